import type { ServerFile } from '../../../schemas/types.generated.ts';

/** Prefixes of the gateway's own headers, each with its final `-`. A bare word stands for `x-WORD-`. */
export const headerPrefixes = (file: Pick<ServerFile, 'header_prefixes'> | undefined): readonly string[] =>
  (file?.header_prefixes ?? ['gateway']).map((prefix) => (prefix.endsWith('-') ? prefix : `x-${prefix}-`));
