import { announcedBytes } from '../../../plugins/body/pieces.ts';
import {
  FILE_PURPOSES,
  type FileLimits,
  type FilePurpose,
  type GatewayContext,
  type StoredFile,
} from '../../core/kernel/index.ts';
import { GatewayError } from '../../plugin/index.ts';
import { ArrivingFile, filePieces, quotaOf } from './arriving-file.ts';
import type { FileUpload } from './file-store.ts';
import type { ArrivingUpload } from './arrivals.ts';
import { cleanName, newFileId } from './file-ids.ts';
import type { FileServiceSetup, Owned } from './setup.ts';
import { readForm, type FilePart, type FormFields } from './multipart.ts';

const SECOND = 1000;
/** Least and greatest lifetimes that the two APIs let callers choose (docs/protocols/files.md#expiry). */
const LEAST_LIFETIME = 3600 * SECOND;

/** Stores the file of a request as it arrives. Throws GatewayError, and then nothing remains. */
export async function receiveFile(ctx: GatewayContext, setup: FileServiceSetup, owned: Owned): Promise<StoredFile> {
  const id = newFileId(setup.clock.wall());
  const arrival = setup.arrivals.enter(owned.owner, id)!;
  try {
    const file = await receive(ctx, { ...setup, ...owned }, { id, arrival });
    arrival.kept = file.bytes;
    return file;
  } finally {
    arrival.end();
  }
}

async function receive(
  ctx: GatewayContext,
  setup: FileServiceSetup & Owned,
  { id, arrival }: { readonly id: string; readonly arrival: ArrivingUpload },
): Promise<StoredFile> {
  const { store, owner, limits, clock } = setup;
  const quota = await quotaOf(setup, setup, arrival);
  quota.takeForm(announcedBytes(ctx.exchange.request) ?? 0);
  let begun: { readonly part: FilePart; readonly upload: FileUpload; readonly file: ArrivingFile } | undefined;
  try {
    const fields = await readForm(ctx, {
      read: filePieces(ctx, setup),
      async onFile({ filename, declared }) {
        const part = { filename: cleanName(filename), declared };
        const upload = await store.begin(owner, id, part.filename);
        begun = { part, upload, file: new ArrivingFile(upload) };
      },
      onBytes: (bytes) => begun!.file.write(bytes, quota),
    });
    const named = { ...begun!.part, purpose: readPurpose(fields) };
    const lifetime = readLifetime(fields, limits);
    return await begun!.file.publish(named, setup, clock.wall() + lifetime);
  } catch (error) {
    await begun?.upload.discard();
    throw error;
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
