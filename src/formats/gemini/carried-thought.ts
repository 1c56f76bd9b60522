import { Buffer } from 'node:buffer';
import type { JsonObject, Part } from '../conversation.ts';
import { writeEnvelope } from '../envelope.ts';
import { makerOf, type Signed } from '../maker.ts';
import { OWN_MAKER } from './thought-signature.ts';

/**
 * Thoughts of other makers on calls (docs/protocols/replies.md#thoughts-on-calls). Claude wants the thoughts of a turn back with the
 * results of its calls. Clients of this API that keep no thoughts, such as Gemini CLI, keep the signatures of calls.
 */
export class CarriedThought {
  #block: number | undefined;
  #text = '';
  #signed: Signed | undefined;
  /** There is more than one thought, or a redacted one: their maker wants all of them or none. */
  #broken = false;

  words(block: number, text: string): void {
    if (block !== this.#block) {
      this.#broken ||= this.#block !== undefined;
      this.#block = block;
      this.#text = '';
    }
    this.#text += text;
  }

  sign(signed: Signed): void {
    this.#signed = signed;
  }

  redacted(): void {
    this.#broken = true;
  }

  /** `at` numbers the parts of an answer. */
  see(part: Part, at: number): void {
    if (part.type === 'redacted_thinking') this.redacted();
    if (part.type !== 'thinking') return;
    this.words(at, part.text);
    if (part.signature !== undefined) this.sign(part);
  }

  /** The value of `thoughtSignature` for the next call. It carries the thoughts since the last call. */
  take(): string | undefined {
    const { signature, maker } = this.#signed ?? {};
    const made = makerOf({ type: 'thinking', ...(maker !== undefined && { maker }) });
    const text = this.#text;
    const carries = !this.#broken && signature !== undefined && made !== OWN_MAKER;
    this.#block = undefined;
    this.#text = '';
    this.#signed = undefined;
    this.#broken = false;
    if (!carries) return undefined;
    return Buffer.from(writeEnvelope({ kind: 'thinking', maker: made, signature, text })).toString('base64');
  }
}

/** A call of its own maker has a signature, and needs no thought. */
export function withThought(call: JsonObject, carried: CarriedThought): JsonObject {
  const signature = carried.take();
  return signature === undefined || 'thoughtSignature' in call ? call : { ...call, thoughtSignature: signature };
}
