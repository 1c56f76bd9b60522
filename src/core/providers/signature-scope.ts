import { hash } from 'node:crypto';

const DIGITS = 12;

/**
 * A name for the account of a target in signatures that no other account gets. Clients see it: give no secret. It stays the same when
 * the key of an entry is rotated.
 */
export const scopeOf = (account: readonly unknown[]): string =>
  hash('sha256', JSON.stringify(account)).slice(0, DIGITS);
