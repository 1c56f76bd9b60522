import { boundaryOf } from '../../../plugins/body/pieces.ts';
import type { GatewayContext } from '../../core/kernel/index.ts';
import { FormScanner, type FormToken } from '../../core/kernel/forms/form-scanner.ts';
import { GatewayError } from '../../plugin/index.ts';

/** The text fields of a form; `name[key]` stays as written. */
export type FormFields = ReadonlyMap<string, string>;

/** Name and declared type of the form's file, as its part says. */
export interface FilePart {
  readonly filename: string;
  readonly declared: string;
}

interface FormReading {
  /** The next piece of the body; undefined at its end. */
  readonly read: () => Promise<Buffer | undefined>;
  readonly onFile: (part: FilePart) => Promise<void>;
  /** Receives the file's bytes. The client is not read while the promise is pending. */
  readonly onBytes: (bytes: Buffer) => Promise<void>;
}

/** Forms for files have a handful of short fields. A field beyond a limit is an error, never ignored. */
const MAX_NAME_BYTES = 100;
const MAX_FIELD_BYTES = 1024;
const MAX_FIELDS = 16;

const FILE_FIELD = 'file';

const refused = (message: string, param: string | null = null): GatewayError =>
  new GatewayError('invalid_multipart', message, { param });

/** Reads a `multipart/form-data` body (RFC 7578) with one file as it arrives. Throws GatewayError. */
export async function readForm(ctx: GatewayContext, reading: FormReading): Promise<FormFields> {
  const form = new FileForm(new FormScanner(boundaryOf(ctx)), reading);
  for (let piece = await reading.read(); piece; piece = await reading.read()) await form.push(piece);
  return form.finish();
}

class FileForm {
  readonly #scanner: FormScanner;
  readonly #reading: FormReading;
  readonly #fields = new Map<string, string>();
  /** The text field whose value is arriving; undefined in the file. */
  #field: { readonly name: string; readonly pieces: Buffer[] } | undefined;
  #fieldBytes = 0;
  #hasFile = false;

  constructor(scanner: FormScanner, reading: FormReading) {
    this.#scanner = scanner;
    this.#reading = reading;
  }

  async push(piece: Buffer): Promise<void> {
    for (const token of this.#scanner.push(piece)) {
      if (token.kind === 'part') await this.#begin(token.head);
      else if (token.kind === 'data') await this.#take(token.bytes);
    }
  }

  finish(): FormFields {
    this.#scanner.finish();
    this.#endField();
    if (!this.#hasFile) throw refused('The form has no field `file` with a file in it.', FILE_FIELD);
    return this.#fields;
  }

  async #begin({ name, filename, declared }: Extract<FormToken, { kind: 'part' }>['head']): Promise<void> {
    this.#endField();
    // Libraries that have no name for a file declare it as bytes. The type of a part without one: RFC 7578, section 4.4.
    if (filename !== undefined || declared === 'application/octet-stream')
      return this.#beginFile(name, { filename: filename ?? '', declared: declared ?? 'text/plain' });
    if (name.length > MAX_NAME_BYTES) throw refused('A field of the form is too long.');
    if (this.#fields.has(name)) throw refused(`The form has the field \`${name}\` twice.`, name);
    if (this.#fields.size === MAX_FIELDS) throw refused('The form has too many fields.');
    this.#field = { name, pieces: [] };
    this.#fieldBytes = 0;
  }

  #beginFile(name: string, part: FilePart): Promise<void> {
    if (name !== FILE_FIELD)
      throw refused(`The file must be in the field \`file\`, not \`${name.slice(0, 100)}\`.`, name.slice(0, 100));
    if (this.#hasFile) throw refused('The form has too many files.');
    this.#hasFile = true;
    return this.#reading.onFile(part);
  }

  async #take(bytes: Buffer): Promise<void> {
    if (!this.#field) return this.#reading.onBytes(bytes);
    this.#fieldBytes += bytes.length;
    if (this.#fieldBytes > MAX_FIELD_BYTES) throw refused('A field of the form is too long.');
    this.#field.pieces.push(bytes);
  }

  #endField(): void {
    if (!this.#field) return;
    this.#fields.set(this.#field.name, Buffer.concat(this.#field.pieces).toString());
    this.#field = undefined;
  }
}
