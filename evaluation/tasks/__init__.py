"""An encoder and data in, a result out: each task is `evaluate(encoder, data) -> Result`."""
