import type { AdminRoute } from './api/admin-route.ts';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Actor } from '../../core/ports/entities.ts';
import { StateFailure } from '../../core/ports/failures.ts';
import type { AdminAnswer } from './api/answer.ts';
import { Bootstrap } from './api/bootstrap.ts';
import type { CallAnswer, Call } from './api/call.ts';
import { parseCallBody, readCallBody } from './api/call-body.ts';
import { Failures } from './api/failures.ts';
import { HANDLERS } from './api/handlers/index.ts';
import { callIdOf, RepeatableCalls } from './api/idempotent-calls.ts';
import { addressOf, hasAdmin, identify, type AdminIdentity } from './api/identity.ts';
import { isLoopback } from '../../core/settings/compile/networks.ts';
import { digestOf } from '../../core/settings/compile/api-keys.ts';
import { createObjectsReader, Objects } from './api/objects.ts';
import { People } from './api/people.ts';
import { CallQuery } from './api/parameters.ts';
import { OF_STORE, ApiProblem } from './api/problems.ts';
import { includesRole, includesScope, RESOURCES, scopeOf } from './api/roles.ts';
import { findRoute } from './api/router.ts';
import { isWrite, resourceOf, type OperationId } from './api/routes.ts';
import { checkAgainst } from './api/schemas.ts';
import { setCookie } from './api/session-cookie.ts';
import { sessionBody } from './api/session-body.ts';
import type { AdminOptions } from '../../core/process/admin-port.ts';

/** Calls at a time: each has a body in memory and takes time of the process that serves requests. */
const MAX_CALLS = 16;
/** Rows of refused writes in a minute, for callers who are known and for those who are not. A client that is refused again and again fills no disk. */
const MAX_REFUSALS = 60;
/** Milliseconds until a store that does not answer is asked again. */
const AGAIN_MS = 1000;
/** Wrong tokens of a network in a minute. */
const MAX_FAILURES = 10;
/** Explanations are made one by one, of the time of served requests; each of these has a body in memory. */
const MAX_EXPLANATIONS = 4;
/** A reply of the playground may be silent for this long. */
const STREAM_SILENCE_MS = 15 * 60_000;
/** The actor of a call without a valid token. */
const UNKNOWN = 'unknown';

/** The part of a request that routes it. */
interface RoutedCall {
  readonly operation: OperationId;
  readonly route: AdminRoute;
  readonly id: string;
  readonly query: string;
}

export class AdminApi {
  readonly #options: AdminOptions;
  readonly #readObjects: () => Promise<Objects>;
  readonly #failures: Failures;
  readonly #bootstrap: Bootstrap;
  readonly #repeatable: RepeatableCalls;
  /** Two counts: refused calls without a valid token cannot push those of known callers out of the audit. */
  readonly #refusals: Failures;
  readonly #people = new People();
  #calls = 0;
  #explanations = 0;

  constructor(options: AdminOptions) {
    const { clock, state, env, replica } = options;
    this.#options = options;
    this.#readObjects = createObjectsReader(options);
    this.#failures = new Failures(clock, MAX_FAILURES);
    this.#bootstrap = new Bootstrap({ dir: state?.dir, env, store: () => state?.store, self: replica });
    this.#repeatable = new RepeatableCalls(clock);
    this.#refusals = new Failures(clock, MAX_REFUSALS);
  }

  /**
   * Writes a bootstrap token if no admin token is valid, now or once the store answers. Never rejects.
   * @param isOpen whether the listener takes requests
   */
  async offerBootstrap(isOpen: () => boolean, isFirst = true): Promise<void> {
    const { state, clock, log } = this.#options;
    if (!state) return;
    try {
      if (hasAdmin((await this.#readObjects()).tokens(), clock.wall())) return await this.#bootstrap.end();
      const offer = await this.#bootstrap.offer();
      if (!offer) return;
      const where =
        'file' in offer
          ? 'the token in this file'
          : 'variable' in offer
            ? 'that of this variable'
            : 'the one in `state.dir` of this replica';
      log.warn(offer, `the admin API has no admin token: ${where} creates the first one, from this machine`);
    } catch (err) {
      if (isFirst) log.error({ err }, 'the bootstrap token of the admin API could not be written');
      if (!(err instanceof StateFailure) || err.code !== 'unavailable') return;
      clock.after(AGAIN_MS, () => isOpen() && void this.offerBootstrap(isOpen, false));
    }
  }

  async identify(
    request: Pick<IncomingMessage, 'headers' | 'socket'> & { readonly method?: string | undefined },
  ): Promise<AdminIdentity> {
    const { settings, clock, state, console: page } = this.#options;
    try {
      return await identify(request, {
        sessions: page?.sessions,
        admin: settings().admin,
        failures: this.#failures,
        bootstrap: this.#bootstrap,
        now: clock.wall(),
        objects: state && this.#readObjects,
      });
    } catch (error) {
      throw problemOf(error, request.method) ?? error;
    }
  }

  /** @param path below `/admin/v1`; undefined: another path, where nothing is */
  async answer(request: IncomingMessage, path: string | undefined, query: string): Promise<AdminAnswer> {
    if (this.#calls >= MAX_CALLS) return answerOf(new ApiProblem('busy', `${MAX_CALLS} calls are under way.`));
    this.#calls += 1;
    try {
      return await this.#answer(request, path, query);
    } catch (error) {
      const problem = problemOf(error, request.method);
      // A client that disconnected during its call causes such an error itself.
      if (!problem && !request.socket.destroyed)
        this.#options.log.error({ err: error }, 'a call of the admin API failed');
      return answerOf(problem ?? new ApiProblem('internal_error', 'The call failed; see the log for the reason.'));
    } finally {
      this.#calls -= 1;
    }
  }

  async #answer(request: IncomingMessage, path: string | undefined, query: string): Promise<AdminAnswer> {
    const match = path === undefined ? undefined : findRoute(request.method ?? 'GET', path);
    const place = match && 'route' in match ? { ...match, query } : undefined;
    let actor: Actor = { id: UNKNOWN, role: '', address: addressOf(request) };
    try {
      if (place?.route.open) return await this.#signIn(request, place);
      const identity = await this.identify(request);
      ({ actor } = identity);
      this.#people.saw(identity, this.#options.clock.wall());
      if (match && !place && 'allow' in match)
        throw new ApiProblem('method_not_allowed', `This path accepts ${match.allow}.`, {
          headers: { allow: match.allow },
        });
      if (!place) throw new ApiProblem('not_found', 'There is nothing at this path.');
      checkAllowed(place, identity);
      return await (place.route.explains ? this.#inTurn : this.#run).call(this, request, place, identity);
    } catch (error) {
      if (error instanceof ApiProblem && place) await this.#auditRefusal(error, place, actor);
      throw error;
    }
  }

  async #signIn(request: IncomingMessage, { route, query: text }: RoutedCall): Promise<AdminAnswer> {
    const { console: page, settings, tls } = this.#options;
    CallQuery.read(text, []);
    const body = parseCallBody(await readCallBody(request, route, settings().limits));
    if (route.body !== undefined) checkAgainst(route.body, body);
    const { token } = body as { readonly token: string };
    const { socket } = request;
    const identity = await this.identify({ socket, headers: { authorization: `Bearer ${token}` } });
    const { publicUrl } = settings().admin;
    const secure = tls !== undefined || publicUrl?.startsWith('https:') === true;
    if (!secure && !isLoopback(addressOf(request)))
      throw new ApiProblem(
        'insecure_session',
        'The connection is plain HTTP: set `admin.tls`, or `admin.public_url` where a proxy has https.',
      );
    if (!page || identity.only !== undefined || identity.secret === undefined)
      throw new ApiProblem('forbidden', 'This token opens no session.');
    const { cookie, csrf, expiresAt } = await page.sessions.create({ tokenDigest: digestOf(identity.secret) });
    const own = { ...identity, expiresAt: Math.min(identity.expiresAt ?? Infinity, expiresAt), session: cookie };
    return {
      status: route.status,
      body: { ...sessionBody(own, this.#options, page), csrf },
      headers: {
        'set-cookie': setCookie(cookie, {
          secure,
          seconds: Math.floor((expiresAt - this.#options.clock.wall()) / 1000),
        }),
      },
    };
  }

  async #inTurn(request: IncomingMessage, place: RoutedCall, identity: AdminIdentity): Promise<AdminAnswer> {
    if (this.#explanations >= MAX_EXPLANATIONS)
      throw new ApiProblem('busy', `${MAX_EXPLANATIONS} explain requests are running already.`);
    this.#explanations += 1;
    try {
      return await this.#run(request, place, identity);
    } finally {
      this.#explanations -= 1;
    }
  }

  async #run(request: IncomingMessage, place: RoutedCall, identity: AdminIdentity): Promise<AdminAnswer> {
    const { operation, route, id } = place;
    const { records, explains, explain, clock, console, settings: server } = this.#options;
    const { limits } = server();
    const { rolledBack } = this.#options.state ?? {};
    if (rolledBack && isWrite(route)) throw new ApiProblem('store_rolled_back', `${rolledBack.reason}.`);
    const query = CallQuery.read(place.query, route.query ?? []);
    const bytes = await readCallBody(request, route, limits);
    const key = keyIn(request, route);
    const run = async (): Promise<AdminAnswer> => {
      const objects =
        route.withoutStore || scopeOf(resourceOf(operation)) === 'requests' ? Objects.none : await this.#readObjects();
      const { settings } = this.#options.inForce();
      const call: Call = {
        operation,
        identity,
        id,
        query,
        bytes,
        body: route.body === undefined || route.explains ? undefined : parseCallBody(bytes),
        limits,
        accept: request.headers.accept,
        lastEventId: request.headers['last-event-id']?.toString(),
        onLeave(task) {
          // It may have left while the objects were read.
          if (request.socket.destroyed) task();
          request.socket.once('close', task);
          return () => void request.socket.removeListener('close', task);
        },
        isAllowed: () => this.#isAllowed(request, place),
        records,
        explains,
        explain,
        console,
        sources: this.#options,
        ifMatch: request.headers['if-match'],
        callId: key === undefined ? randomUUID() : callIdOf({ identity, key }),
        objects,
        people: this.#people,
        settings,
        clock,
        readObjects: this.#readObjects,
      };
      if (route.body !== undefined && !route.explains) checkAgainst(route.body, call.body);
      // A model may think for longer than the listener takes for silence.
      if (route.streams !== undefined) request.socket.setTimeout(STREAM_SILENCE_MS);
      const answered = await HANDLERS[operation](call);
      if (operation === 'tokens.create' && !query.dryRun) await this.#endBootstrap();
      return toAnswer(route, answered);
    };
    if (key === undefined || query.dryRun) return run();
    const { idempotency, claims } = (await this.#readObjects()).store;
    const repeatable = { identity, key, method: route.method, target: request.url ?? '', body: bytes };
    return this.#repeatable.run(repeatable, { idempotency, claims }, run);
  }

  async #isAllowed(request: IncomingMessage, place: RoutedCall): Promise<boolean> {
    try {
      checkAllowed(place, await this.identify(request));
      return true;
    } catch {
      return false;
    }
  }

  async #endBootstrap(): Promise<void> {
    if (hasAdmin((await this.#readObjects()).tokens(), this.#options.clock.wall())) await this.#bootstrap.end();
  }

  async #auditRefusal(
    { code, kind: { status } }: ApiProblem,
    { operation, route, id }: RoutedCall,
    actor: Actor,
  ): Promise<void> {
    const { state, log } = this.#options;
    if ((status !== 401 && status !== 403) || !isWrite(route) || !state?.store) return;
    const caller = actor.id === UNKNOWN ? 'unknown' : 'known';
    if (this.#refusals.isFull(caller)) return;
    this.#refusals.count(caller);
    const event = {
      action: 'refused',
      kind: resourceOf(operation),
      id: id.slice(0, 256),
      reason: `${operation}: ${code}`,
    };
    await state.store.audit
      .add(event, actor)
      .catch((err: unknown) => log.error({ err }, 'a refused call is not in the audit'));
  }
}

function checkAllowed({ operation, route }: RoutedCall, { role, scopes, only }: AdminIdentity): void {
  if (only !== undefined && only !== operation)
    throw new ApiProblem('forbidden', 'The bootstrap token creates the first admin token, and nothing else.');
  if (!includesRole(role, route.role))
    throw new ApiProblem('forbidden', `This call needs the role ${route.role}, not ${role}.`);
  const resource = scopeOf(resourceOf(operation));
  const write = isWrite(route) || (route.asks === true && route.role !== 'viewer');
  if (RESOURCES.some((one) => one === resource) && !includesScope(scopes, resource, write))
    throw new ApiProblem('forbidden', `The token has no scope \`${resource}:${write ? 'write' : 'read'}\`.`);
}

function keyIn({ headersDistinct }: IncomingMessage, route: AdminRoute): string | undefined {
  const sent = headersDistinct['idempotency-key'];
  if (sent === undefined || route.method !== 'POST' || !isWrite(route)) return undefined;
  const [key = ''] = sent;
  if (sent.length > 1 || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw new ApiProblem('invalid_header', '`Idempotency-Key` is one text of 1 to 255 visible characters of ASCII.');
  return key;
}

const toAnswer = (
  { status }: AdminRoute,
  { body, text, headers, file, stream, status: own = status }: CallAnswer,
): AdminAnswer =>
  stream
    ? {
        status: own,
        body: stream.pieces,
        headers: { 'content-type': stream.type, 'x-accel-buffering': 'no', ...headers },
      }
    : file
      ? {
          status,
          body: file.pieces,
          headers: {
            'content-type': `${file.type}; charset=utf-8`,
            'content-disposition': `attachment; filename="${file.name}"`,
          },
        }
      : { status, body: text ?? body, ...(headers && { headers }) };

/** Undefined: a fault of the gateway, or a client that left. */
function problemOf(error: unknown, method: string | undefined): ApiProblem | undefined {
  if (error instanceof ApiProblem) return error;
  if (!(error instanceof StateFailure)) return undefined;
  const found = OF_STORE[error.code];
  // A read has no body: the store does not take its query, such as a sum that no number holds.
  const code = found === 'invalid_body' && method === 'GET' ? 'invalid_query' : found;
  if (code === undefined) return undefined;
  return new ApiProblem(code, code === 'store_unavailable' ? 'The state store does not answer.' : `${error.message}.`);
}

/** Problem details (RFC 9457). */
export function answerOf(problem: ApiProblem): AdminAnswer {
  const { status, retryAfter } = problem.kind;
  return {
    status,
    body: problem.body,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      ...problem.headers,
    },
  };
}
