"""A module with a plain form in, folders that other libraries load as they are out."""
