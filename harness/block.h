/*
 * A block: a fresh process that makes one ballast and measures the cells of it. The runner starts
 * it, checks it from outside and keeps what it says; both sides of the conversation are described
 * here, and only here.
 *
 * One JSON object a line. Runner to block, on descriptor 0: the order, then a line to go on, then
 * end of file.
 *   {"rss":N,"budget":N,"seed":N,"target":PATH,"stamps":true,"cells":[{"strategy":..,"gap":N,"at_once":N,"samples":N},
 * ..]} Block to runner, on BLOCK_OUT: ready once the ballast is there, a line for each cell as it
 * is done, then done.
 *   {"ready":true} or {"problem":"..."}
 *   {"cell":I,"state":"measured","call":[..],"ready":[..],"total":[..],"cpu":[..]} or
 * {"cell":I,"state":"failed","reason":".."}
 *   {"done":true}
 */
#ifndef BLOCK_H
#define BLOCK_H

enum { BLOCK_OUT = 3 };

/* The whole life of a block; its exit status. */
int block_main(void);

#endif
