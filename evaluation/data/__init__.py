"""Files of the benchmarks in, typed examples out; every bad line is named."""
