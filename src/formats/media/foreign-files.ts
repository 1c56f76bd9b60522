import { RequestFault } from '../faults.ts';
import type { BodyPlace } from '../losses/place.ts';

/** Ids of files at Anthropic begin with `file_`, those at OpenAI with `file-`, and those at Google are URIs or `files/…`. */
const ANTHROPIC_FILE = /^file_/;
const GOOGLE_FILE = /^(?:files\/|(?:gs|https?):\/\/)/;

/** Refuses an id of another vendor, which means nothing to OpenAI. Throws RequestFault. */
export function refuseForeignFile(id: string, path: BodyPlace): void {
  const owner = ANTHROPIC_FILE.test(id) ? 'Anthropic' : GOOGLE_FILE.test(id) ? 'Google' : undefined;
  if (owner === undefined) return;
  const message = `\`${String(path)}\` is the id of a file at ${owner}, which this target cannot read: send it as a data URI.`;
  throw new RequestFault('invalid_value', message, path);
}

/** A file of the Gemini Developer API by its URI: only Google reads it, with the key of its owner. */
const GOOGLE_FILE_URI = /^https:\/\/generativelanguage\.googleapis\.com\/v\w+\/files\//;

export const isGoogleFile = (url: string): boolean => GOOGLE_FILE_URI.test(url);
