"""Messages: what every source of conversations yields, and how a source is written."""
