import type { Report, Secret } from '../plugin/index.ts';

/** The key as a header can carry it. undici would refuse another at the first request, with the key in no one's view: better told at load. */
export function readApiKey(secret: Secret, report: Report): string | undefined {
  const key = secret.reveal();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  report({
    path: ['api_key'],
    message: 'api_key is empty, or holds a space, a line break or another character no key has',
  });
  return undefined;
}
