import { Busboy, type BusboyEvents, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { GatewayError, type Clock, type GatewayContext } from '../plugin/index.ts';

/** The text fields of a form; `name[key]` stays as written. */
export type FormFields = ReadonlyMap<string, string>;

/** Name and declared type of the form's file, as its part says. */
export interface FilePart {
  readonly filename: string;
  readonly declared: string;
}

export interface FormReading {
  readonly clock: Clock;
  /** A client that sends nothing for this long is disconnected. */
  readonly idleMs: number;
  /** Receives the file's bytes. The client is not read while the promise is pending. */
  readonly onFile: (part: FilePart, pieces: AsyncIterable<Buffer>) => Promise<void>;
  /** Called with the number of bytes of the body so far. */
  readonly onBytes: (bytes: number) => void;
}

/** Forms for files have a handful of short fields. A field beyond a limit is an error, never ignored. */
const LIMITS = {
  fieldNameSize: 100,
  fieldSize: 1024,
  fields: 16,
  files: 1,
  parts: 17,
  headerPairs: 16,
  headerSize: 16_384,
};

const FILE_FIELD = 'file';

const refused = (message: string, param: string | null = null): GatewayError =>
  new GatewayError('invalid_multipart', message, { param });

/**
 * Reads a `multipart/form-data` body (RFC 7578) as it arrives: memory is bounded by the buffers of the parser, whatever the size of
 * the file. Throws GatewayError.
 */
export async function readForm(ctx: GatewayContext, reading: FormReading): Promise<FormFields> {
  const type = ctx.req.headers['content-type'];
  if (type === undefined || !/^multipart\/form-data\s*;/i.test(type))
    throw new GatewayError('unsupported_media_type', 'Send the file as multipart/form-data with a field `file`.');
  const encoding = ctx.req.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new GatewayError('unsupported_media_type', `Content-Encoding ${encoding.slice(0, 100)} is not accepted.`);
  let form: BusboyInstance;
  try {
    form = new Busboy({ headers: { ...ctx.req.headers, 'content-type': type }, limits: LIMITS });
  } catch (cause) {
    throw new GatewayError('invalid_multipart', 'The Content-Type has no usable boundary.', { cause });
  }
  // RFC 9110, section 10.1.1: a client with a large body may wait for a 100 reply before it sends.
  if (ctx.req.headers.expect !== undefined) ctx.res.writeContinue();
  return new FormReader(ctx, form, reading).read();
}

class FormReader {
  readonly #ctx: GatewayContext;
  readonly #form: BusboyInstance;
  readonly #reading: FormReading;
  readonly #fields = new Map<string, string>();
  /** The storing of the file; undefined until its part has begun. */
  #storing: Promise<void> | undefined;
  #stream: BusboyFileStream | undefined;
  #bytes = 0;
  /** Bytes at the last look for progress. */
  #seen = 0;
  #over = false;

  constructor(ctx: GatewayContext, form: BusboyInstance, reading: FormReading) {
    this.#ctx = ctx;
    this.#form = form;
    this.#reading = reading;
  }

  async read(): Promise<FormFields> {
    const { req, exchange } = this.#ctx;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (error: unknown): void => {
      this.#stop(error);
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const onData = (piece: Buffer): void => {
      this.#bytes += piece.length;
      this.#reading.onBytes(this.#bytes);
    };
    const onGone = (): void =>
      fail(new GatewayError('client_closed', 'The client disconnected while it sent its body.'));
    const stopListening = exchange.cancellation.onCancel(fail);
    const stopTimer = this.#watchIdle(fail);
    req.on('data', onData).on('error', onGone);
    this.#listen(resolve, fail);
    req.pipe(this.#form);
    try {
      await promise;
      if (!this.#storing) throw refused('The form has no field `file` with a file in it.', FILE_FIELD);
      await this.#storing;
      return this.#fields;
    } finally {
      this.#over = true;
      stopListening();
      stopTimer();
      req.off('data', onData).off('error', onGone);
      // The storing must have ended before its remains are removed.
      await this.#storing?.catch(() => {});
    }
  }

  #listen(done: () => void, fail: (error: unknown) => void): void {
    const form = this.#form;
    const tooMany = (what: string) => () => fail(refused(`The form has too many ${what}.`));
    form.on('field', (name, value, nameTruncated, valueTruncated) => {
      if (nameTruncated || valueTruncated) return fail(refused(`A field of the form is too long.`));
      if (this.#fields.has(name)) return fail(refused(`The form has the field \`${name}\` twice.`, name));
      this.#fields.set(name, value);
    });
    form.on('file', (...[name, stream, filename, , declared]: Parameters<BusboyEvents['file']>) => {
      // Without a listener, a stream that is destroyed with an error would end the process.
      stream.on('error', () => {});
      // The parser goes on to the end of the piece in which a field was refused. Nothing would end this stream.
      if (this.#over) return void stream.resume();
      if (name !== FILE_FIELD)
        return fail(refused(`The file must be in the field \`file\`, not \`${name.slice(0, 100)}\`.`, name));
      this.#stream = stream;
      this.#storing = this.#reading.onFile({ filename, declared }, stream as AsyncIterable<Buffer>);
      this.#storing.catch(fail);
    });
    form.on('filesLimit', tooMany('files')).on('fieldsLimit', tooMany('fields')).on('partsLimit', tooMany('parts'));
    form.on('error', (cause: unknown) =>
      fail(
        new GatewayError('invalid_multipart', 'The body is not a valid multipart form, or it is cut off.', { cause }),
      ),
    );
    form.on('finish', done);
  }

  /** Checks for progress once per `idleMs`: an idle client is noticed between one and two periods after its last byte. */
  #watchIdle(fail: (error: unknown) => void): () => void {
    const { clock, idleMs } = this.#reading;
    let stop = (): void => {};
    const look = (): void => {
      // A client that is not read, because the store is busy, is not idle.
      if (this.#bytes === this.#seen && !this.#ctx.req.isPaused() && this.#ctx.req.readableFlowing)
        return fail(
          new GatewayError(
            'request_timeout',
            `The client sent nothing of its file for ${idleMs} ms (files.idle_time).`,
          ),
        );
      this.#seen = this.#bytes;
      stop = clock.after(idleMs, look);
    };
    stop = clock.after(idleMs, look);
    return () => stop();
  }

  /** Stops reading at once. The rest of the body is the connection's: it ends with the reply. */
  #stop(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    const { req } = this.#ctx;
    req.unpipe(this.#form);
    req.pause();
    this.#stream?.destroy(error instanceof Error ? error : undefined);
    this.#form.destroy();
  }
}
