import type { IncomingMessage } from 'node:http';
import {
  bodyKind,
  definePlugin,
  bareName,
  foldCase,
  namesOf,
  RequestBody,
  type Exchange,
  type InboundForm,
  type InboundFormReading,
  type FieldNames,
  type Operation,
  readForm,
  type GatewayContext,
  type RequestLimits,
} from '../../src/core/kernel/index.ts';
import { GatewayError, type Clock } from '../../src/plugin/index.ts';
import { announcedBytes, bodyPieces, boundaryOf } from './pieces.ts';
import { readBody } from './read.ts';

/** Worked out at the first request of an operation. */
function namesByOperation(): (operation: Operation) => FieldNames {
  const known = new Map<Operation['fields'], FieldNames>();
  return ({ fields }) => {
    let names = known.get(fields);
    if (names === undefined) {
      const paths = [...(fields?.read ?? []), ...(fields?.inner ?? [])].map((path) => path.split('.'));
      known.set(fields, (names = namesOf(paths, fields)));
    }
    return names;
  };
}

export default definePlugin({
  name: 'body',
  level: 'entry',
  needs: ['limits', 'turns'],
  requires: ['caller'],
  provides: ['body'],
  explain({ exchange: { operation, request } }) {
    const { bodyBytes, bodyValidated, form } = request;
    if (!operation || bodyBytes === 0) return undefined;
    if (form) return { does: describeForm(form), details: { held: form.held } };
    const does = bodyValidated ? `, validated against the schema of ${operation.id}` : '';
    return { does: `${bodyBytes} bytes${does}`, details: { bytes: bodyBytes, checked: bodyValidated } };
  },
  create({ host }) {
    const { limits, turns, clock } = host;
    const namesFor = namesByOperation();
    const scan = (exchange: Exchange, { fieldsInPath }: Operation, bytes: Buffer): RequestBody => {
      const body = RequestBody.read(bytes, limits.json);
      return fieldsInPath ? body.edit(pathEdits(exchange, fieldsInPath, body)) : body;
    };
    const check = (operation: Operation, body: RequestBody): void => {
      const parsed = body.abridged();
      namesFor(operation).checkParsed(parsed);
      validate(operation, body, parsed);
    };
    /** Parsing cannot be interrupted, so it has a turn of its own. */
    const inTurns = async (exchange: Exchange, operation: Operation, bytes: Buffer): Promise<void> => {
      const whole = (exchange.request.body = await turns.run(exchange, () => scan(exchange, operation, bytes)));
      if (!whole.abridges) await turns.run(exchange, () => void whole.json());
      await turns.run(exchange, () => check(operation, whole));
      exchange.request.bodyValidated = operation.validateReceived === undefined;
    };
    return {
      step(ctx) {
        const { exchange } = ctx;
        const { operation, request } = exchange;
        // Rejects a request that already has an error, when no plugin before this one has.
        if (exchange.error) throw exchange.error;
        const kind = operation && bodyKind(operation);
        if (operation?.task && kind === 'multipart') {
          const checkLater: InboundFormReading['checkLater'] = (part) =>
            checkLatePart(part, exchange, namesFor(operation));
          return readFormBody(ctx, { limits, clock, checkLater }).then((form) => {
            request.form = form;
            for (const name of form.files) checkFile(name, operation);
            for (const name of Object.keys(form.fields)) checkBrackets(name, operation);
            request.body = scan(exchange, operation, form.json());
            check(operation, request.body);
            request.bodyValidated = true;
          });
        }
        if (!operation || kind !== 'json') return undefined;
        checkMediaType(request.headers);
        return readBody(ctx, limits).then((bytes) => {
          request.bodyBytes = bytes.length;
          if (turns.isHeavy(bytes.length)) return inTurns(exchange, operation, bytes);
          check(operation, (request.body = scan(exchange, operation, bytes)));
          request.bodyValidated = operation.validateReceived === undefined;
          return undefined;
        });
      },
    };
  },
});

const describeForm = ({ held }: InboundForm): string =>
  held
    ? 'a form, held in memory: a retry or another target can get it'
    : 'a form that passes through as it arrives: no retry and no other target once it is on its way';

/** A part behind the file of a form that is on its way: nothing has judged it, and no target's settings apply to it. */
function checkLatePart(
  { name, isFile }: LatePart,
  { attempts, operation, request }: Exchange,
  names: FieldNames,
): void {
  const rules = request.form?.fileRules ?? [];
  if (isFile) checkFile(name, operation!);
  else names.checkParsed({ [name]: '' });
  const bare = bareName(name);
  const isEdited = attempts.some(({ body }) => body.edits.some(({ path }) => bareName(path[0] ?? '') === bare));
  const isDecisive = isEdited || rules.length > 0 || decidesModels(bare, operation!) || name === 'stream';
  if (isFile ? rules.every((allows) => allows(name)) : !isDecisive) return;
  throw refused(name, `Send the field ${shown(name)} before the file.`);
}

type LatePart = Parameters<InboundFormReading['checkLater']>[0];

/** A text of the API that comes as a file would pass by every rule for texts. */
function checkFile(name: string, { fields }: Operation): void {
  const bare = foldCase(bareName(name));
  if (!fields?.read.some((path) => bareName(path) === bare) && !fields?.lifted.includes(bare)) return;
  throw refused(name, `Send the field ${shown(name)} as text, not as a file.`);
}

/** Names of models are checked in `models`, in `model[]` and in `extra_body` as JSON. */
function checkBrackets(name: string, operation: Operation): void {
  const bare = bareName(name);
  if (bare === name || name === `${bare}[]` || !decidesModels(bare, operation)) return;
  throw refused(name, `Write the field ${shown(name)} as \`${bare}\`.`);
}

const decidesModels = (bare: string, { fields }: Operation): boolean =>
  fields?.models.some((name) => bareName(name) === bare) === true || fields?.lifted.includes(bare) === true;

const pathEdits = (
  { request }: Exchange,
  fieldsInPath: NonNullable<Operation['fieldsInPath']>,
  body: RequestBody,
): Parameters<RequestBody['edit']>[0] =>
  Object.entries(fieldsInPath(request.params, body)).map(([key, value]) => ({ path: [key], value, source: 'path' }));

const shown = (name: string): string => `\`${name.slice(0, 100)}\``;
const refused = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_request', message, { param });

/** A plugin may make the body of the operation from the received one, which then has a schema of its own. */
function validate(
  { validate: inner, validateReceived, hasReferences }: Operation,
  body: RequestBody,
  parsed: Readonly<Record<string, unknown>>,
): void {
  const fault = (validateReceived ?? inner)(parsed);
  if (fault) {
    const code = fault.missing ? 'missing_required_parameter' : 'invalid_request';
    throw new GatewayError(code, fault.message, { param: fault.param });
  }
  // The plugin that writes the body validates the result.
  if (validateReceived) return;
  body.checked = true;
  body.hasReferences = hasReferences?.(parsed);
}

function checkMediaType(headers: IncomingMessage['headers']): void {
  const type = headers['content-type'];
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new GatewayError(
      'unsupported_media_type',
      `Content-Type must be application/json, not ${type.slice(0, 100)}.`,
    );
  }
}

interface FormSetup {
  readonly limits: RequestLimits;
  readonly clock: Clock;
  /** Throws GatewayError for a part that comes when the form is on its way. */
  readonly checkLater: InboundFormReading['checkLater'];
}

/** Reads a multipart form for a model until it can be sent. Throws GatewayError. */
async function readFormBody(ctx: GatewayContext, { limits, clock, checkLater }: FormSetup): Promise<InboundForm> {
  const { exchange } = ctx;
  const boundary = boundaryOf(ctx);
  const announced = announcedBytes(exchange.request);
  if (announced !== undefined && announced > limits.form.bytes) throw tooLarge(limits.form.bytes);
  const hold = (bytes: number): void => {
    const refused = limits.reserve(exchange, bytes);
    if (refused) throw refused;
  };
  const next = bodyPieces(ctx, { clock, idleMs: limits.form.idleMs, setting: 'limits.form_idle_time', what: 'form' });
  const read = async (): Promise<Buffer | undefined> => {
    const piece = await next();
    if (!piece) return undefined;
    exchange.request.bodyBytes += piece.length;
    if (exchange.request.bodyBytes > limits.form.bytes) throw tooLarge(limits.form.bytes);
    return piece;
  };
  return readForm({ boundary, announced, read, mostHeld: limits.form.held, hold, checkLater });
}

const tooLarge = (limit: number): GatewayError =>
  new GatewayError('request_too_large', `The form exceeds ${limit} bytes (limits.form).`);
