"""An encoder and data in, a result out: `evaluate(encoder, data) -> Result`."""
