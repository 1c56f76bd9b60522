import type { ValidateFunction } from 'ajv';

/**
 * Checks compiled by the build, which writes this module, by the schema's `$id`, or its text for options of plugins.
 * Compiling them took a third of a start's time (measured).
 */
export const compiledAhead: ReadonlyMap<string, ValidateFunction> = new Map();
