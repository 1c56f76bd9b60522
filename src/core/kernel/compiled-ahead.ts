import type { ValidateFunction } from 'ajv';

/**
 * Checks that are compiled when the package is built, by the schema's `$id`, or by its text for the options of built-in
 * plugins. Compiling them took a third of a start's time (measured). The sources have none: the build writes this module.
 */
export const compiledAhead: ReadonlyMap<string, ValidateFunction> = new Map();
