import { nameOf } from './pointer.ts';

/** What is known of a scalar besides its value. */
export interface Origin {
  readonly secret: boolean;
  /** `env:NAME`, `file:path`; empty for text that stands in the YAML. */
  readonly sources: readonly string[];
  /** The reference could not be resolved: nothing more is to be said about this value. */
  readonly unresolved: boolean;
}

/** Shapes of keys and tokens people paste by mistake. A message must not repeat them, wherever they stand. */
const SECRET_SHAPE = /sk-[\w-]{8,}|-----BEGIN|gatehouse_\w{6,}|AIza[\w-]{20,}|ya29\.[\w-]{8,}|eyJ[\w-]{10,}\.|"private_key"\s*:/;

const LONGEST_SHOWN = 40;

export function looksSecret(text: string): boolean {
  return SECRET_SHAPE.test(text);
}

/** A value for a message; what came by reference or may be secret is named, never shown. */
export function showValue(value: unknown, origin: Origin | undefined): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (origin && origin.sources.length > 0) return `the value of ${origin.sources.join(' and ')}`;
  if (origin?.secret) return typeof value === 'string' ? 'this text' : `a ${typeof value}`;
  if (typeof value === 'string' && (value.length > LONGEST_SHOWN || looksSecret(value))) return 'this text';
  return JSON.stringify(value) ?? 'nothing';
}

/** A key or other name for a message, in backticks. */
export function showName(name: string): string {
  return looksSecret(name) ? 'this key' : nameOf([name]);
}

