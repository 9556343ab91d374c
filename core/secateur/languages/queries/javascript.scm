(field_definition) @field
