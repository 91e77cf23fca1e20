"""From plugin classes and a configuration to profiles: registration, typed arguments, signatures, rights."""
