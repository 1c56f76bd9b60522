import type { JsonObject } from '../../../../formats/conversation.ts';
import { RequestFault } from '../../../../formats/format.ts';
import { toCamel } from '../../../../formats/json/field-names.ts';
import { readArray, readBoolean, readNumber, readObject, readString } from '../../../../formats/openai-chat/read.ts';

interface Field {
  /** The caller's spelling. */
  readonly key: string;
  readonly value: unknown;
}

/**
 * A caller's body, read field by field. OpenAI's names are snake_case and Google's camelCase, and callers use both cases for the
 * other's fields. The fields that a codec has not taken are those that would be lost.
 */
export class ImageFields {
  readonly #left = new Map<string, Field>();

  constructor(body: JsonObject) {
    for (const [key, value] of Object.entries(body)) {
      // OpenAI's SDKs send null for "not set".
      if (value === null || value === undefined) continue;
      const name = toCamel(key);
      const other = this.#left.get(name);
      if (other) throw new RequestFault('invalid_request', `\`${other.key}\` and \`${key}\` are the same field.`, key);
      this.#left.set(name, { key, value });
    }
  }

  /** @param names the names of one field in different models, in camelCase */
  take(...names: string[]): Field | undefined {
    const found = names.filter((name) => this.#left.has(name)).map((name) => this.#left.get(name)!);
    const [field, other] = found;
    if (field && other)
      throw new RequestFault('invalid_request', `\`${field.key}\` and \`${other.key}\` are the same field.`, other.key);
    for (const name of names) this.#left.delete(name);
    return field;
  }

  string(...names: string[]): string | undefined {
    const field = this.take(...names);
    return field && readString(field.value, field.key);
  }

  number(name: string): number | undefined {
    const field = this.take(name);
    return field && readNumber(field.value, field.key);
  }

  /** A whole number within bounds; the fault uses the caller's spelling. */
  integer(name: string, min: number, max: number): number | undefined {
    const field = this.take(name);
    const number = field && readNumber(field.value, field.key);
    if (field === undefined || number === undefined) return undefined;
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw new RequestFault(
      'invalid_value',
      `\`${field.key}\` must be a whole number from ${min} to ${max}.`,
      field.key,
    );
  }

  boolean(name: string): boolean | undefined {
    const field = this.take(name);
    return field && readBoolean(field.value, field.key);
  }

  object(name: string): JsonObject | undefined {
    const field = this.take(name);
    return field && readObject(field.value, field.key);
  }

  list(name: string): readonly unknown[] | undefined {
    const field = this.take(name);
    return field && readArray(field.value, field.key);
  }

  /** The keys that were not taken, in the caller's spelling. */
  rest(): string[] {
    return [...this.#left.values()].map(({ key }) => key);
  }
}
