/* Where the small programs are told what to start. */
#ifndef CONNECTION_H
#define CONNECTION_H

enum { CONNECTION = 3 }; /* descriptor */

#endif
