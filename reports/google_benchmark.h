#pragma once

#include "run.h"

#include <stdio.h>

/*
 * The run as google-benchmark writes its own, for what reads that, such as its compare.py: a
 * benchmark for each cell, a repetition for each round. `real_time` is the median `call` of the
 * round and `cpu_time` its median `cpu`, both in ns; a measurement that failed is an error of 0 ns.
 */
void write_google_benchmark(const struct run *run, FILE *out);
