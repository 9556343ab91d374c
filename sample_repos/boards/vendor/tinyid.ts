/*
 * tinyid 1.2.0 - short, URL-safe random identifiers
 *
 * MIT License, Copyright (c) 2023 Marek Holub
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software, to deal in it without restriction, provided that this notice
 * is included in all copies. The software is provided "as is", without warranty.
 */
import { randomBytes } from "node:crypto";

const SYMBOLS = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * Returns `length` symbols with five bits of randomness each. The alphabet has
 * 32 symbols, so masking a byte does not favour any of them.
 */
export function tinyid(length = 12): string {
  let id = "";
  for (const byte of randomBytes(length)) id += SYMBOLS.charAt(byte & 31);
  return id;
}
