/*
 * A block: a fresh process that makes one ballast and measures the cells of it. The runner starts
 * it, checks it from outside and keeps what it says; their conversation is described here, and only
 * here: one JSON object a line.
 *
 * Runner to block, on descriptor 0: the order, then a line to go on, then end of file.
 *   {"budget":N, "seed":N, "cells":[CELL, ..]}, of one ballast
 *   CELL: {"axes":{NAME:TEXT, ..}, "samples":N, "discards":N, "target":PATH, "stamps":BOOL}, of the
 *         axes all but the target, or those that are not at their default
 *
 * Block to runner, on BLOCK_OUT: populated once the ballast is there, a line for each cell as it is
 * done, then done.
 *   {"populated":true}, or {"problem":TEXT, "memory":BOOL} and nothing more
 *   {"cell":I, "state":"measured", "called":[N, ..], "call":[N, ..], ..}, its columns (columns.h);
 *    called: when, on CLOCK_MONOTONIC
 *   {"cell":I, "state":"failed" or "unsupported", "reason":TEXT}
 *   {"done":true}
 */
#ifndef BLOCK_H
#define BLOCK_H

enum { BLOCK_OUT = 3 };

/* The whole life of a block; its exit status. */
int block_main(void);

#endif
