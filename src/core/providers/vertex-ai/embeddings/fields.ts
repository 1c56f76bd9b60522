import type { JsonObject } from '../../../../formats/conversation.ts';
import { RequestFault } from '../../../../formats/format.ts';
import type { LossReport } from '../../../../formats/losses/losses.ts';
import { invalidValue, readBoolean, readString, required } from '../../../../formats/openai-chat/read.ts';

/** Reads one field of a caller's object. @param param its path, with the caller's spelling */
type Read<T> = (value: unknown, param: string) => T;

/**
 * A caller's object, read field by field. `null`, which SDKs send for "not set", counts as absent. Fields that are never taken are
 * lost and reported.
 */
export class EmbeddingFields {
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #taken = new Set<string>();

  /** @param path the path of the object in the body; empty for the body itself */
  constructor(object: JsonObject, path = '') {
    this.#object = object;
    this.#path = path;
  }

  /** The value under any of these names; names that contradict each other are refused. */
  take<T>(names: readonly string[], read: Read<T>): T | undefined {
    const given = names.filter((name) => this.has(name));
    const [first, ...others] = given.map((name) => {
      this.#taken.add(name);
      const param = this.param(name);
      return { param, value: read(this.#object[name], param) };
    });
    for (const { param, value } of others) {
      if (value !== first?.value) {
        throw new RequestFault(
          'invalid_value',
          `\`${param}\` and \`${first?.param}\` are the same field and have different values.`,
          param,
        );
      }
    }
    return first?.value;
  }

  /** The same for a required field. */
  need<T>(name: string, read: Read<T>): T {
    return required(this.take([name], read), this.param(name));
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name) && this.#object[name] !== null && this.#object[name] !== undefined;
  }

  param(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  /**
   * Reports the unread fields.
   *
   * @param reasons the reasons why known fields cannot be sent, by name
   */
  reportRest(losses: LossReport, reasons: Readonly<Record<string, string>> = {}): void {
    for (const name of Object.keys(this.#object)) {
      if (this.#taken.has(name) || !this.has(name)) continue;
      const reason = Object.hasOwn(reasons, name) ? reasons[name]! : 'Vertex AI has no such field';
      losses.dropped(this.param(name), reason);
    }
  }
}

export const asString = (value: unknown, param: string): string => required(readString(value, param), param);

export function asText(value: unknown, param: string): string {
  const text = asString(value, param);
  if (text === '') throw invalidValue(param, `\`${param}\` is empty: there is nothing to embed.`);
  return text;
}

export const asBoolean = (value: unknown, param: string): boolean => required(readBoolean(value, param), param);

export function asSeconds(value: unknown, param: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new RequestFault('invalid_request', `\`${param}\` must be a number of seconds.`, param);
  }
  return value;
}

export function asDimensions(value: unknown, param: string): number {
  if (!Number.isInteger(value) || Number(value) < 1) throw invalidValue(param, `\`${param}\` must be 1 or more.`);
  return Number(value);
}
