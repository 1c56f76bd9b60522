import { BucketUpload, type BucketUploadSetup } from '../bucket-upload.ts';
import { LONG_MS, type S3Api } from './s3-api.ts';
import { textOf } from './xml.ts';

/** Only the last part of an upload may be smaller (docs/protocols/files.md#s3). */
const LEAST_PART = 5 * 1024 * 1024;

/** The parts of an upload that the store has, and the bytes that are no part yet. */
export interface S3Parts {
  /** Undefined: there is no part yet. */
  readonly uploadId: string | undefined;
  readonly etags: readonly string[];
  readonly stored: number;
  readonly tail: Buffer;
}

interface S3UploadSetup extends BucketUploadSetup {
  readonly api: S3Api;
  readonly name: string;
  readonly parts?: S3Parts;
}

/** A file that fits into one chunk is put whole, a larger one is a multipart upload, which begins with its first part. */
export class S3Upload extends BucketUpload {
  readonly #api: S3Api;
  readonly #name: string;
  readonly #etags: string[];
  #uploadId: string | undefined;

  constructor({ api, name, parts, ...end }: S3UploadSetup) {
    super(end, parts?.stored ?? 0);
    this.#api = api;
    this.#name = name;
    this.#uploadId = parts?.uploadId;
    this.#etags = [...(parts?.etags ?? [])];
    this.filled = parts?.tail.copy(this.chunk) ?? 0;
  }

  /** For a later request. The tail is valid until the next write. */
  async suspend(): Promise<S3Parts> {
    if (this.filled >= LEAST_PART) await this.send(false);
    const tail = this.chunk.subarray(0, this.filled);
    return { uploadId: this.#uploadId, etags: this.#etags, stored: this.stored, tail };
  }

  protected override async send(last: boolean): Promise<void> {
    // The chunk keeps the file: if it does not become visible, a later request sends it again.
    if (last && this.#uploadId === undefined) {
      await this.#api.put(this.#name, this.chunk.subarray(0, this.filled));
      return;
    }
    this.#uploadId ??= await this.#begin();
    if (this.filled > 0) this.#etags.push(await this.#part(this.#uploadId));
    this.stored += this.filled;
    this.filled = 0;
    if (last) await this.#join(this.#uploadId);
  }

  protected override async abandon(): Promise<void> {
    if (this.#uploadId !== undefined) await this.#api.remove(this.#name, { uploadId: this.#uploadId });
  }

  async #begin(): Promise<string> {
    const url = this.#api.url(this.#name, { uploads: '' });
    const uploadId = textOf(await this.#api.request('POST', url, 'InitiateMultipartUploadResult'), 'UploadId') ?? '';
    if (!isUploadId(uploadId)) throw this.#api.failed('its reply has no id for the upload');
    return uploadId;
  }

  async #part(uploadId: string): Promise<string> {
    const query = { partNumber: String(this.#etags.length + 1), uploadId };
    const { headers } = await this.#api.put(this.#name, this.chunk.subarray(0, this.filled), query);
    const { etag = '' } = headers;
    if (!isEtag(etag)) throw this.#api.failed('its reply to a part has no ETag');
    return etag;
  }

  /** The store compares each ETag with the part that it has. The call that publishes looks at the size of the object. */
  async #join(uploadId: string): Promise<void> {
    const parts = this.#etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
    const body = `<CompleteMultipartUpload xmlns="${NAMESPACE}">${parts.join('')}</CompleteMultipartUpload>`;
    const url = this.#api.url(this.#name, { uploadId });
    const reply = await this.#api.call({ method: 'POST', url, body, timeoutMs: LONG_MS }, [200, 404]);
    // A 404 may mean that an earlier try has joined them, and its reply was lost.
    if (reply.status === 200) this.#api.xmlOf(reply, 'CompleteMultipartUploadResult');
  }
}

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

export const isUploadId = (text: unknown): text is string =>
  typeof text === 'string' && /^[\w.~+/=-]{1,1024}$/.test(text);

/** Without characters that XML would have to escape. */
export const isEtag = (text: unknown): text is string =>
  typeof text === 'string' && /^"?[\w.+/=-]{1,128}"?$/.test(text);
