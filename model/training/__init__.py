"""An experiment in, a trained checkpoint out: the loops, synchronous and asynchronous."""
