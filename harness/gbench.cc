#include "gbench.h"

#include <benchmark/benchmark.h>

namespace {

// The samples are kept by the caller; nothing is to be printed.
class Silent : public benchmark::BenchmarkReporter {
  public:
    bool ReportContext(const Context &) override {
        return true;
    }
    void ReportRuns(const std::vector<Run> &) override {
    }
};

} // namespace

unsigned gbench_run(const char *name, unsigned count, double (*iteration)(void *), void *argument) {
    unsigned done = 0;
    benchmark::ClearRegisteredBenchmarks();
    benchmark::RegisterBenchmark(name,
                                 [&](benchmark::State &state) {
                                     for (auto _ : state) {
                                         double seconds = iteration(argument);
                                         if (seconds < 0) {
                                             state.SkipWithError("the iteration failed");
                                             break;
                                         }
                                         state.SetIterationTime(seconds);
                                         done++;
                                     }
                                 })
        ->UseManualTime()
        ->Iterations(count)
        ->Repetitions(1);
    Silent silent;
    benchmark::RunSpecifiedBenchmarks(&silent, ".");
    return done;
}
