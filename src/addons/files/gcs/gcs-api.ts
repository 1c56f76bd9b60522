import type { SmallReply } from '../../../core/upstream/types.ts';
import { BucketApi, type BucketCall, type BucketHeaders, type BucketTools } from '../bucket-api.ts';

export interface GcsSetup extends BucketTools {
  readonly baseUrl: string;
  readonly authorize: () => BucketHeaders | Promise<BucketHeaders>;
  /** Called with headers that were refused. True: `authorize` can return others. */
  readonly forget: (refused: BucketHeaders) => boolean;
}

/** Calls of the JSON API of Cloud Storage (docs/protocols/files.md#cloud-storage). */
export class GcsApi extends BucketApi {
  readonly #setup: GcsSetup;

  constructor(setup: GcsSetup) {
    super('Google Cloud Storage', setup);
    this.#setup = setup;
  }

  objectUrl(name: string, query = ''): string {
    const { baseUrl, bucket } = this.#setup;
    return `${baseUrl}/storage/v1/b/${bucket}/o/${encodeURIComponent(name)}${query}`;
  }

  listUrl(query: Readonly<Record<string, string>>): string {
    const { baseUrl, bucket } = this.#setup;
    return `${baseUrl}/storage/v1/b/${bucket}/o?${new URLSearchParams(query).toString()}`;
  }

  uploadUrl(name: string, type: 'resumable' | 'media' = 'resumable'): string {
    const { baseUrl, bucket } = this.#setup;
    return `${baseUrl}/upload/storage/v1/b/${bucket}/o?uploadType=${type}&name=${encodeURIComponent(name)}`;
  }

  /** The address of an upload's session, which the reply names: only at the same origin, because credentials go there. */
  sessionUrl({ headers }: SmallReply): string {
    const url = URL.parse(headers['location'] ?? '');
    if (!url || url.origin !== new URL(this.#setup.baseUrl).origin || url.username !== '' || url.password !== '')
      throw this.failed('its reply has no usable address for the upload');
    return url.href;
  }

  async once(call: BucketCall): Promise<SmallReply> {
    const { authorize, forget } = this.#setup;
    const send = (credentials: BucketHeaders): Promise<SmallReply> =>
      this.send(call, { ...credentials, ...call.headers });
    const credentials = await authorize();
    const reply = await send(credentials);
    return reply.status === 401 && forget(credentials) ? send(await authorize()) : reply;
  }
}
