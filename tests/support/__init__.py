"""What tests share: slow references, random rules, small games and files, terminals."""
