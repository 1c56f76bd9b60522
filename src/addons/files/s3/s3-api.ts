import type { GatewayError } from '../../../plugin/index.ts';
import type { SmallReply } from '../../../core/upstream/types.ts';
import { BucketApi, MAX_PAGES, PAGE, PAGE_BYTES, type BucketCall, type BucketTools } from '../bucket-api.ts';
import { readObjectName, type NamedObject } from './object-names.ts';
import { signS3, type S3Credentials } from './sign.ts';
import { elementsOf, rootOf, textOf } from './xml.ts';

export interface S3Setup extends BucketTools {
  /** Address of the bucket: `https://BUCKET.s3.REGION.amazonaws.com`, `https://HOST/BUCKET`. */
  readonly bucketUrl: string;
  readonly region: string;
  readonly credentials: S3Credentials;
}

/** An object of this gateway, as a listing shows it. */
export interface S3Object {
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: number;
  readonly is: NamedObject;
}

type Query = Readonly<Record<string, string>>;

/** Joining and copying take minutes for a file of GiB (docs/protocols/files.md#s3). */
export const LONG_MS = 10 * 60_000;

/** Calls of the API of S3 (docs/protocols/files.md#s3). */
export class S3Api extends BucketApi {
  readonly #setup: S3Setup;

  constructor(setup: S3Setup) {
    super('S3', setup);
    this.#setup = setup;
  }

  /** @param name of an object, without the prefix. All of them, and the prefix, have only characters that need no encoding. */
  url(name: string, query?: Query): string {
    const { bucketUrl, prefix } = this.#setup;
    return `${bucketUrl}/${prefix}${name}${query ? `?${new URLSearchParams(query).toString()}` : ''}`;
  }

  async once(call: BucketCall): Promise<SmallReply> {
    const { credentials, region, clock } = this.#setup;
    const reply = await this.send(call, await signS3(call, credentials, { region, wallMs: clock.wall() }));
    const code = errorCode(reply);
    // S3 may find out that it cannot join or copy when it has sent its 200, and a slow connection is a 400 of its.
    return code !== undefined && (reply.status === 200 || code === 'RequestTimeout')
      ? { ...reply, status: 503 }
      : reply;
  }

  async put(name: string, bodyBytes: Buffer, query?: Query): Promise<SmallReply> {
    return this.call({ method: 'PUT', url: this.url(name, query), bodyBytes }, [200]);
  }

  async remove(name: string, query?: Query): Promise<void> {
    await this.call({ method: 'DELETE', url: this.url(name, query) }, [200, 204, 404]);
  }

  /** Copies an object within the bucket, whole or not at all, with new metadata. */
  async copy(from: string, to: string, metadata: Query): Promise<void> {
    const { bucket, prefix } = this.#setup;
    const source = { 'x-amz-copy-source': `/${bucket}/${prefix}${from}`, 'x-amz-metadata-directive': 'REPLACE' };
    await this.request('PUT', this.url(to), 'CopyObjectResult', {
      headers: { ...metadata, ...source },
      timeoutMs: LONG_MS,
    });
  }

  /** A call that answers XML with this outermost element. */
  async request(
    method: 'PUT' | 'POST' | 'GET',
    url: string,
    root: string,
    more: Partial<BucketCall> = {},
  ): Promise<string> {
    return this.xmlOf(await this.call({ ...more, method, url }, [200]), root);
  }

  xmlOf({ text, bytes }: SmallReply, root: string): string {
    const xml = bytes?.toString('utf8') ?? text;
    if (rootOf(xml) !== root) throw this.failed(`its reply is not ${root}`);
    return xml;
  }

  /** The objects of this gateway whose names begin so. */
  async *objects(start: string): AsyncGenerator<S3Object> {
    const { prefix } = this.#setup;
    let token: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = { 'list-type': '2', prefix: prefix + start, 'max-keys': String(PAGE) };
      const xml = await this.list({ ...query, ...(token !== undefined && { 'continuation-token': token }) });
      for (const item of elementsOf(xml, 'Contents')) {
        const name = textOf(item, 'Key') ?? '';
        const is = name.startsWith(prefix + start) ? readObjectName(name) : undefined;
        const [bytes, modifiedAt] = [Number(textOf(item, 'Size')), Date.parse(textOf(item, 'LastModified') ?? '')];
        if (!is) continue;
        if (!Number.isSafeInteger(bytes) || bytes < 0) throw this.failed('its listing has an object without a size');
        yield { name: name.slice(prefix.length), bytes, modifiedAt, is };
      }
      if (textOf(xml, 'IsTruncated') !== 'true') return;
      const next = textOf(xml, 'NextContinuationToken');
      if (next === undefined || next === token) throw this.failed('its listing does not go on');
      token = next;
    }
  }

  list(query: Query, root = 'ListBucketResult'): Promise<string> {
    const { bucketUrl } = this.#setup;
    const url = `${bucketUrl}?${new URLSearchParams(query).toString()}`;
    return this.request('GET', url, root, { maxBytes: PAGE_BYTES });
  }

  /** S3 quotes the headers of a request in some of its errors, with the session token: neither caller nor log gets more than the code. */
  protected override refusalOf(reply: SmallReply): GatewayError {
    const code = errorCode(reply);
    return this.failed(`it replied with status ${reply.status}${code === undefined ? '' : ` (${code})`}`);
  }
}

/** The code of an error; undefined for other replies. */
function errorCode({ status, text, bytes }: SmallReply): string | undefined {
  // The bytes of a good reply are a file's, or a listing.
  if (bytes && status < 300) return undefined;
  const xml = bytes?.toString('utf8', 0, MAX_ERROR) ?? text;
  if (rootOf(xml) !== 'Error') return undefined;
  const code = textOf(xml, 'Code') ?? '';
  return /^[A-Za-z]{1,64}$/.test(code) ? code : 'unknown';
}

const MAX_ERROR = 16 * 1024;
