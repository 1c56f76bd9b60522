import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

// Packages that few processes need, each loaded at its first use. Loading is synchronous, as the code that needs them is.

/** For schemas that the package does not bring: of external plugins, of prompt variables. The others are compiled ahead. */
export const loadAjv = (): typeof import('ajv') => load('ajv') as typeof import('ajv');

export const loadFormats = (): typeof import('ajv-formats') => load('ajv-formats') as typeof import('ajv-formats');

type Ref = typeof import('ajv/dist/vocabularies/core/ref.js');

/** The code of ajv's keyword `$ref`. */
export const loadRef = (): Ref => load('ajv/dist/vocabularies/core/ref.js') as Ref;

/** For settings with patterns. */
export const loadRe2 = (): typeof import('re2js') => load('re2js') as typeof import('re2js');

/** Whether an optional peer is there, for a check of the settings that loads nothing. */
export function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
