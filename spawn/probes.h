/*
 * USDT probes of the provider forkless, for tracers; forkless_stamps(3) has their arguments. Only
 * in code of the parent, and only where <sys/sdt.h> is there. Private.
 */
#ifndef FL_PROBES_H
#define FL_PROBES_H

#if !defined(FORKLESS_NO_PROBES) && defined(__has_include)
#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
#define FL_PROBE(name, ...) STAP_PROBEV(forkless, name, __VA_ARGS__)
#endif
#endif

#ifndef FL_PROBE
static inline void fl_no_probe(int none, ...) {
    (void)none;
}
#define FL_PROBE(name, ...) ((void)(0 && (fl_no_probe(0, __VA_ARGS__), 1)))
#endif

#endif
