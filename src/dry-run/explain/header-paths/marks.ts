import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { CONNECTION_HEADERS } from '../../../providers/connection-headers.ts';

/** Nothing that settings say has it. */
const NONCE = randomBytes(8).toString('hex');

/** A text to be known by, wherever it comes out again; fit for a header, a token and a list. */
export const mark = (name: string): string => `{${NONCE}:${name}}`;

const MARK = new RegExp(`\\{${NONCE}:([^{}]+)\\}`, 'g');

/** Names of the marks in a text. */
export const marksIn = (text: string): readonly string[] =>
  text.includes(NONCE) ? [...text.matchAll(MARK)].map(([, name]) => name!) : [];

const valueOf = (name: string | symbol): string | undefined =>
  typeof name === 'symbol' || CONNECTION_HEADERS.has(name) ? undefined : mark(name);

/**
 * Headers of a request that has every possible header. Each value is marked with its name, so each read is visible and no list of
 * headers is needed. Connection headers are absent: they end before any code reads them.
 */
export const EVERY_HEADER: IncomingHttpHeaders = new Proxy<IncomingHttpHeaders>(
  {},
  {
    get: (_, name) => valueOf(name),
    has: (_, name) => valueOf(name) !== undefined,
    getOwnPropertyDescriptor(_, name) {
      const value = valueOf(name);
      return value === undefined ? undefined : { value, configurable: true, enumerable: true, writable: true };
    },
  },
);
