import { isWithin, limitsOf } from '../target-limits.ts';

/** A tool call's id and the thought signature in it (docs/protocols/replies.md#signature-in-the-id). */
export const SIGNATURE_MARK = '__thought__';
const LIMIT = limitsOf('anthropic-messages', {}).callId;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Gives each call id a form that Claude accepts (`^[a-zA-Z0-9_-]+$`, docs/protocols/anthropic-messages.md#tool-use): the same form for
 * the call and its result, and never one form for two calls.
 */
export class ToolIds {
  /** The id that each wire form stands for. Most ids keep their own form and are entered only here. */
  #owners: Map<string, string> | undefined;
  /** Ids that got another form. */
  #renamed: Map<string, string> | undefined;
  /** The next suffix to try for a taken name: all lower ones are taken, and stay so. */
  #next: Map<string, number> | undefined;

  wire(id: string): string {
    // The common cases first: the result of a call, and a call whose id Claude accepts.
    const owners = (this.#owners ??= new Map<string, string>());
    if (owners.get(id) === id) return id;
    const mark = id.indexOf(SIGNATURE_MARK);
    const plain = mark < 0 ? id : id.slice(0, mark);
    if (plain !== '' && isWithin(plain, LIMIT)) {
      const owner = owners.get(plain);
      if (owner === undefined) owners.set(plain, plain);
      if (owner === undefined || owner === plain) return plain;
    }
    const known = this.#renamed?.get(plain);
    if (known !== undefined) return known;
    const name = this.#free(owners, plain.replace(LIMIT.illegal ?? '', '_') || 'call');
    owners.set(name, plain);
    if (name !== plain) (this.#renamed ??= new Map<string, string>()).set(plain, name);
    return name;
  }

  #free(owners: ReadonlyMap<string, string>, base: string): string {
    if (!owners.has(base)) return base;
    const next = (this.#next ??= new Map<string, number>());
    let n = next.get(base) ?? 2;
    while (owners.has(`${base}_${n}`)) n += 1;
    next.set(base, n + 1);
    return `${base}_${n}`;
  }
}

/** Signatures are base64, but ids may not hold `+/=`: they travel as base64url. Other alphabets are left out. */
export function joinSignature(id: string, signature: string | undefined): string {
  if (!signature || signature.length % 4 !== 0 || !BASE64.test(signature)) return id;
  return `${id}${SIGNATURE_MARK}${signature.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

export function splitSignature(id: string): { readonly id: string; readonly signature?: string } {
  const at = id.indexOf(SIGNATURE_MARK);
  if (at < 0) return { id };
  const safe = id
    .slice(at + SIGNATURE_MARK.length)
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const signature = safe.padEnd(Math.ceil(safe.length / 4) * 4, '=');
  return BASE64.test(signature) ? { id: id.slice(0, at), signature } : { id: id.slice(0, at) };
}
