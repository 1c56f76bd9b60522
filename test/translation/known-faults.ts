/**
 * Cases whose golden holds what wire.md demands while src/formats does something else, and why. write-goldens.ts leaves them as
 * they are; the test fails when one is mended, so that it is taken from here.
 */
export const KNOWN_FAULTS: Readonly<Record<string, string>> = {};
