import {
  announcedBytes,
  bodyPieces,
  FILE_PURPOSES,
  type FileLimits,
  type FilePurpose,
  type GatewayContext,
  type StoredFile,
} from '../../core/kernel/index.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { FileEntry, FileUpload } from './file-store.ts';
import type { ArrivingUpload } from './arrivals.ts';
import { newFileId } from './file-ids.ts';
import { cleanName } from './file-name.ts';
import { admitFile, FileQuota } from './file-quota.ts';
import type { FileServiceSetup } from './setup.ts';
import { checkType, HEAD_BYTES } from './file-type.ts';
import { readForm, type FilePart, type FormFields } from './multipart.ts';

interface Receiving extends FileServiceSetup {
  readonly owner: string;
  readonly limits: FileLimits;
  /** Reads the owner's files. */
  readonly present: () => Promise<readonly FileEntry[]>;
}

const SECOND = 1000;
/** Least and greatest lifetimes that the two APIs let callers choose (docs/protocols/files.md#expiry). */
const LEAST_LIFETIME = 3600 * SECOND;

/** Stores the file of a request as it arrives. Throws GatewayError, and then nothing remains. */
export async function receiveFile(ctx: GatewayContext, receiving: Receiving): Promise<StoredFile> {
  const id = newFileId(receiving.clock.wall());
  // The id is new.
  const arrival = receiving.arrivals.enter(receiving.owner, id)!;
  try {
    return await receive(ctx, receiving, { id, arrival });
  } finally {
    arrival.end();
  }
}

async function receive(
  ctx: GatewayContext,
  receiving: Receiving,
  { id, arrival }: { readonly id: string; readonly arrival: ArrivingUpload },
): Promise<StoredFile> {
  const { limits, clock, store, owner } = receiving;
  const present = await receiving.present();
  await arrival.count(async () => [...present, ...(await store.unfinished(owner))]);
  const quota = new FileQuota(limits, present.length, arrival);
  quota.takeForm(announcedBytes(ctx.req) ?? 0);
  const receiver = new Receiver(receiving, quota, id);
  try {
    const { idleMs } = receiving.settings;
    const next = bodyPieces(ctx, { clock, idleMs, setting: 'files.idle_time', what: 'file' });
    const read = async (): Promise<Buffer | undefined> => {
      const piece = await next();
      ctx.exchange.request.bodyBytes += piece?.length ?? 0;
      return piece;
    };
    const fields = await readForm(ctx, {
      read,
      onFile: (part) => receiver.begin(part),
      onBytes: (bytes) => receiver.write(bytes),
    });
    const file = await receiver.publish(fields);
    arrival.kept = file.bytes;
    return file;
  } catch (error) {
    await receiver.discard();
    throw error;
  }
}

class Receiver {
  readonly #receiving: Receiving;
  readonly #quota: FileQuota;
  readonly #id: string;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  #bytes = 0;
  #part: FilePart | undefined;
  #upload: FileUpload | undefined;

  constructor(receiving: Receiving, quota: FileQuota, id: string) {
    this.#id = id;
    this.#receiving = receiving;
    this.#quota = quota;
  }

  async begin(part: FilePart): Promise<void> {
    const { store, owner } = this.#receiving;
    this.#part = { ...part, filename: cleanName(part.filename) };
    this.#upload = await store.begin(owner, this.#id, this.#part.filename);
  }

  async write(bytes: Buffer): Promise<void> {
    this.#bytes += bytes.length;
    this.#quota.take(this.#bytes);
    if (this.#headBytes < HEAD_BYTES) this.#headBytes += bytes.copy(this.#head, this.#headBytes);
    await this.#upload!.write(bytes);
  }

  async publish(fields: FormFields): Promise<StoredFile> {
    const { clock, limits } = this.#receiving;
    const part = this.#part!;
    const purpose = readPurpose(fields);
    const lifetime = readLifetime(fields, limits);
    if (this.#bytes === 0) throw new GatewayError('invalid_value', '`file` is empty.', { param: 'file' });
    const mime = checkType(this.#head.subarray(0, this.#headBytes), { ...part, purpose });
    const details = { filename: part.filename, mime, purpose, expiresAt: clock.wall() + lifetime };
    return this.#upload!.publish(details, (sizes) => admitFile(limits, sizes));
  }

  async discard(): Promise<void> {
    await this.#upload?.discard();
  }
}

/** Anthropic's API has no purposes; its files are data of the user. */
function readPurpose(fields: FormFields): FilePurpose {
  const text = fields.get('purpose') ?? 'user_data';
  const purpose = FILE_PURPOSES.find((one) => one === text);
  if (purpose === undefined)
    throw new GatewayError('invalid_value', `\`purpose\` must be one of ${FILE_PURPOSES.join(', ')}.`, {
      param: 'purpose',
    });
  return purpose;
}

/** `expires_after[anchor]` and `expires_after[seconds]` of OpenAI's API, `expires_in_seconds` of Anthropic's. */
function readLifetime(fields: FormFields, { ttlMs }: FileLimits): number {
  const param = ['expires_after[seconds]', 'expires_in_seconds'].find((name) => fields.has(name));
  const anchor = fields.get('expires_after[anchor]');
  if (anchor !== undefined && anchor !== 'created_at')
    throw new GatewayError('invalid_value', '`expires_after[anchor]` must be created_at.', {
      param: 'expires_after[anchor]',
    });
  if (param === undefined) return ttlMs;
  const text = fields.get(param)!;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * SECOND : NaN;
  if (ms >= Math.min(LEAST_LIFETIME, ttlMs) && ms <= ttlMs) return ms;
  const [least, most] = [Math.min(LEAST_LIFETIME, ttlMs) / SECOND, Math.floor(ttlMs / SECOND)];
  throw new GatewayError('invalid_value', `\`${param}\` must be a whole number from ${least} to ${most} (files.ttl).`, {
    param,
  });
}
