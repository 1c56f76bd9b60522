import type { Report, Secret } from '../plugin/index.ts';

/** Checks that a header can carry the key. Otherwise undici would refuse it at the first request instead of at load. */
export function readApiKey(secret: Secret, report: Report): string | undefined {
  const key = secret.reveal();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  report({
    path: ['api_key'],
    message: 'api_key is empty, or contains a space, a line break or another character that no key has',
  });
  return undefined;
}
