import {
  definePlugin,
  type Exchange,
  type FileService,
  type GatewayContext,
  type StoredFile,
  type UploadGrants,
} from '../../../../core/kernel/index.ts';
import type { Clock, Reply } from '../../../../plugin/index.ts';
import { ANTHROPIC } from './anthropic.ts';
import type { FilesApi } from './files-api.ts';
import { activeUpload, CANCELLED_UPLOAD, endedUpload, GEMINI, readUploadStep, startedUpload } from './gemini.ts';
import { OPENAI } from './openai.ts';

/** Answers the operations on stored files. Sends nothing to a model. */
export default definePlugin({
  name: 'files',
  level: 'entry',
  needs: ['files', 'keys'],
  requires: ['caller'],
  explain({ exchange: { operation, caller, reply, error } }) {
    if (!operation?.id.startsWith('files.') || !reply || error) return undefined;
    return { does: `answers from the files of key ${caller?.keyId}; nothing is sent to a model` };
  },
  create({ host: { files: service, keys, clock } }) {
    const setup = { service, clock, grants: keys.uploads };
    return function files(ctx, next) {
      const answer = ANSWERS.get(ctx.exchange.operation?.id ?? '');
      return answer ? answer(setup, ctx).then((reply) => void (ctx.exchange.reply = reply)) : next();
    };
  },
});

interface FilesSetup {
  readonly service: FileService;
  readonly clock: Clock;
  readonly grants: UploadGrants | undefined;
}

type FileAnswer = (setup: FilesSetup, ctx: GatewayContext) => Promise<Reply>;

const ANSWERS: ReadonlyMap<string, FileAnswer> = new Map<string, FileAnswer>([
  ['files.create', create],
  ['files.list', list],
  ['files.retrieve', retrieve],
  ['files.content', content],
  ['files.delete', remove],
]);

const APIS: Readonly<Partial<Record<string, FilesApi>>> = { 'anthropic-messages': ANTHROPIC, gemini: GEMINI };

const apiOf = ({ operation }: Exchange): FilesApi => APIS[operation?.format.name ?? ''] ?? OPENAI;

const idOf = ({ request }: Exchange): string => request.params['id'] ?? '';

const shape = (file: StoredFile, ctx: GatewayContext): object => apiOf(ctx.exchange).toFile(file, ctx);

async function create(setup: FilesSetup, ctx: GatewayContext): Promise<Reply> {
  const { exchange } = ctx;
  if (apiOf(exchange) === GEMINI) return createInSteps(setup, ctx);
  const file = await setup.service.upload(ctx);
  exchange.upload = { id: file.id, bytes: file.bytes };
  return jsonReply(shape(file, ctx));
}

/** Google's resumable upload: a request begins it, others bring the file in pieces, ask for its state, or end it. */
async function createInSteps(setup: FilesSetup, ctx: GatewayContext): Promise<Reply> {
  const { exchange } = ctx;
  const { inPieces } = setup.service;
  const read = await readUploadStep(ctx, setup.clock);
  if (read.step === 'start') {
    const begun = await inPieces.begin(exchange, read.file);
    return withHeaders({}, startedUpload(begun, ctx, setup.grants?.grant(exchange.caller?.keyId ?? '', begun)));
  }
  const { id } = read;
  if (read.step === 'cancel') {
    await inPieces.cancel(exchange, id);
    return withHeaders({}, CANCELLED_UPLOAD);
  }
  const state = read.step === 'query' ? await inPieces.received(exchange, id) : await inPieces.add(ctx, id, read.piece);
  if (typeof state === 'number') return withHeaders({}, activeUpload(state));
  if (read.step === 'upload') exchange.upload = { id, bytes: state.bytes };
  return withHeaders({ file: shape(state, ctx) }, endedUpload(state));
}

function withHeaders(body: object, headers: Readonly<Record<string, string>>): Reply {
  const reply = jsonReply(body);
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

async function list({ service }: FilesSetup, ctx: GatewayContext): Promise<Reply> {
  const { exchange, querystring } = ctx;
  const { readQuery, toPage } = apiOf(exchange);
  return jsonReply(toPage(await service.list(exchange, readQuery(querystring)), ctx));
}

async function retrieve({ service }: FilesSetup, ctx: GatewayContext): Promise<Reply> {
  return jsonReply(shape(await service.find(ctx.exchange, idOf(ctx.exchange)), ctx));
}

async function content({ service }: FilesSetup, { exchange, method }: GatewayContext): Promise<Reply> {
  const file = await service.find(exchange, idOf(exchange));
  const headers = {
    'content-type': file.mime,
    // A browser must neither show a caller's file as a page of this host nor guess another type.
    'content-disposition': `attachment; filename*=UTF-8''${encodeName(file.filename)}`,
    'x-content-type-options': 'nosniff',
  };
  const body = method === 'HEAD' ? Buffer.alloc(0) : service.content(exchange, file);
  return { status: 200, headers, body, stream: false };
}

async function remove({ service }: FilesSetup, { exchange }: GatewayContext): Promise<Reply> {
  const id = idOf(exchange);
  await service.remove(exchange, id);
  return jsonReply(apiOf(exchange).removed(id));
}

/** RFC 8187, section 3.2.1: `encodeURIComponent` leaves four characters that the header does not allow. */
const encodeName = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

const jsonReply = (body: object): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
  stream: false,
});
