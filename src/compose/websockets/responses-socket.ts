import type { WebSocket } from 'ws';
import type { JsonObject } from '../../formats/conversation.ts';
import type { Routed } from '../../gateway/routed.ts';
import { uuidv7 } from '../../plugin/ids.ts';
import { GatewayError, type Clock } from '../../plugin/index.ts';
import type { ServerSettings, WebSocketSettings } from '../../settings/compile/server-settings.ts';
import {
  errorFrame,
  limitReached,
  longStreamId,
  refusalFrame,
  steerFailed,
  warmUpFrames,
  withStreamId,
} from './answers.ts';
import { isFalse, jsonOf, readFrame, textOf, withTexts, type Frame } from './frame.ts';
import { LatestResponse, type Continued } from './latest-response.ts';
import type { HoldBytes, OpenSocket, OpenSockets } from './open-sockets.ts';
import { turnHeaders, runRequest, type Handle, type Handshake, type Koa, type Running } from './turn.ts';
import { TurnReply, type TurnEnd } from './turn-reply.ts';

export interface SocketSetup {
  readonly handle: Handle;
  readonly koa: Koa;
  readonly clock: Clock;
  readonly sockets: OpenSockets;
  /** Counts bytes that the socket holds. */
  readonly hold: HoldBytes;
  readonly settings: () => Pick<ServerSettings, 'webSockets' | 'limits'>;
  /** The operation of a turn, and that of the handshake. */
  readonly turn: Routed;
  readonly opening: Routed;
}

/** RFC 6455, section 7.4.1, and the registry of https://www.iana.org/assignments/websocket. */
const CLOSE = { normal: 1000, goingAway: 1001, unsupported: 1003, policy: 1008, fault: 1011, tryLater: 1013 } as const;

/** How often the gateway asks whether the client is still there. */
const PING_MS = 30_000;
/** Messages that may wait while a turn runs. Reading of the connection stops long before. */
const MOST_WAITING = 32;
/** Messages that may wait before reading stops. */
const READ_AHEAD = 2;
/** Bytes of the name of a turn as JSON: each event of the turn repeats it. */
const MOST_STREAM_ID = 1024;
/** Bytes of a control frame besides its payload (RFC 6455, section 5.2). */
const CONTROL_HEAD = 6;
/** Pongs are not sent into a connection in which this many bytes wait (RFC 6455, section 5.5.3 permits it). */
const PONG_ROOM = 16 * 1024;

/** A WebSocket of the Responses API: its turns run one after the other, each as a request of its own. */
export class ResponsesSocket implements OpenSocket {
  readonly #ws: WebSocket;
  readonly #handshake: Handshake;
  readonly #setup: SocketSetup;
  /** The settings at the time when the socket opened. */
  readonly #limits: WebSocketSettings;
  readonly #latest: LatestResponse;
  readonly #waiting: Buffer[] = [];
  readonly #stopLifetime: () => void;
  #stopIdle: (() => void) | undefined;
  #stopPing: (() => void) | undefined;
  #running: Running | undefined;
  #busy = false;
  #alive = true;
  #turns = 0;
  /** Bytes of the message that is arriving. */
  #arriving = 0;
  /** The socket closes when its turn has ended. */
  #closing: (() => void) | undefined;

  constructor(ws: WebSocket, handshake: Handshake, setup: SocketSetup) {
    this.#ws = ws;
    this.#handshake = handshake;
    this.#setup = setup;
    this.#limits = setup.settings().webSockets;
    const { sockets, clock, hold } = setup;
    this.#latest = new LatestResponse(hold);
    ws.on('message', (data: Buffer, isBinary: boolean) => this.#take(data, isBinary));
    ws.on('ping', (data: Buffer) => {
      this.#release(data.length + CONTROL_HEAD);
      if (ws.bufferedAmount < PONG_ROOM) ws.pong(data);
    });
    ws.on('pong', (data: Buffer) => {
      this.#release(data.length + CONTROL_HEAD);
      this.#alive = true;
    });
    // `ws` closes the socket after an error, with a code that shows it to the client.
    ws.on('error', () => {});
    ws.on('close', () => this.#closed());
    this.#stopLifetime = clock.after(this.#limits.lifetimeMs, () =>
      this.#endBy('This WebSocket has reached its lifetime (websockets.lifetime).'),
    );
    this.#schedulePing();
    this.#startIdleTimer();
    sockets.add(this);
  }

  /** Counts a piece of a message that arrives. The socket closes when all sockets together, or those of its key, hold too much. */
  arrived(bytes: number): void {
    if (this.#setup.hold(bytes)) this.#arriving += bytes;
    else this.#close(CLOSE.tryLater, 'the gateway holds too many messages');
  }

  #release(bytes: number): void {
    const released = Math.min(bytes, this.#arriving);
    this.#setup.hold(-released);
    this.#arriving -= released;
  }

  drain(): void {
    this.#closeAfterTurn(() => this.#close(CLOSE.goingAway, 'the gateway is shutting down'));
  }

  terminate(): void {
    this.#ws.terminate();
  }

  #take(data: Buffer, isBinary: boolean): void {
    this.#release(this.#arriving);
    if (this.#ws.readyState !== this.#ws.OPEN) return;
    if (isBinary) return this.#close(CLOSE.unsupported, 'messages must be text');
    if (this.#waiting.length >= MOST_WAITING) return this.#close(CLOSE.policy, 'too many messages wait');
    if (!this.#setup.hold(data.length)) return this.#close(CLOSE.tryLater, 'the gateway holds too many messages');
    this.#waiting.push(data);
    if (this.#waiting.length >= READ_AHEAD) this.#ws.pause();
    this.#advance();
  }

  #advance(): void {
    if (this.#busy || this.#ws.readyState !== this.#ws.OPEN) return;
    if (this.#closing) return this.#finish();
    const message = this.#waiting.shift();
    if (this.#waiting.length < READ_AHEAD && this.#ws.isPaused) this.#ws.resume();
    if (!message) return this.#startIdleTimer();
    this.#busy = true;
    this.#setup.hold(-message.length);
    this.#answer(message);
  }

  /** The next message has its turn once everything before it has left. */
  readonly #done = (): void => {
    this.#busy = false;
    this.#running = undefined;
    this.#advance();
  };

  #startIdleTimer(): void {
    const { clock } = this.#setup;
    this.#stopIdle?.();
    this.#stopIdle = clock.after(this.#limits.idleMs, () => this.#close(CLOSE.normal, 'no turn for too long'));
  }

  #answer(bytes: Buffer): void {
    const frame = readFrame(bytes, this.#setup.settings().limits.json);
    const type = frame && textOf(frame, 'type');
    if (frame && Buffer.byteLength(jsonOf(frame, 'stream_id') ?? '') > MOST_STREAM_ID)
      return this.#say(longStreamId(MOST_STREAM_ID), this.#done);
    if (frame && type !== 'response.create') return this.#answerOther(frame, type);
    this.#turns += 1;
    if (this.#turns > this.#limits.turns) return this.#endBy('This WebSocket has had its turns (websockets.turns).');
    if (!frame) return this.#turn(bytes, undefined);
    if (isFalse(frame, 'generate')) return this.#warmUp(frame);
    const continued = this.#latest.continue(frame);
    this.#turn(turnBody(frame, continued), { frame, continued });
  }

  #answerOther(frame: Frame, type: string | undefined): void {
    const streamId = textOf(frame, 'stream_id');
    if (type === 'response.steer') {
      const { input = '', previous_response_id = '' } = parse(frame);
      return this.#say(withStreamId(steerFailed({ input, previous_response_id }), streamId), this.#done);
    }
    const message = 'A message must be a JSON object with the `type` response.create.';
    this.#say(withStreamId(errorFrame(400, { code: 'invalid_request', message, param: 'type' }), streamId), this.#done);
  }

  /** @param of undefined: the request path refuses these bytes, as it refuses such a body */
  #turn(body: Buffer, of: { readonly frame: Frame; readonly continued: Continued } | undefined): void {
    const { turn: routed, handle, koa } = this.#setup;
    const names = {
      streamId: of && textOf(of.frame, 'stream_id'),
      previous: of?.continued.named,
      unknownPrevious: of !== undefined && of.continued.named === undefined,
    };
    const sink = new TurnReply({ send: this.#send, say: this.#say }, names, (end) => {
      if (of && end.result && end.whole) this.#latest.keep(of.frame, of.continued, end.result, this.#limits.keptBytes);
      else if (of) this.#latest.evict(of.frame);
      this.#ended(end);
    });
    const headers = turnHeaders(this.#handshake, body.length);
    this.#stopIdle?.();
    this.#running = runRequest(this.#handshake, { method: 'POST', headers, body, routed }, { handle, koa, sink });
  }

  #ended({ status, whole }: TurnEnd): void {
    // Without an event of the failure, only the close shows it.
    if (!whole) return this.#close(CLOSE.fault, 'the response broke off');
    // The key of the handshake is that of every turn.
    if (status === 401) return this.#close(CLOSE.policy, 'the key is not valid');
    this.#done();
  }

  /**
   * A turn that asks no model. Its caller is checked as that of the handshake, and its input begins a conversation
   * (docs/protocols/openai-responses.md#websocket).
   */
  #warmUp(frame: Frame): void {
    const { opening: routed, turn, handle, koa, clock } = this.#setup;
    const streamId = textOf(frame, 'stream_id');
    const continued = this.#latest.continue(frame);
    const body = parse(frame);
    const fault = turn.operation?.validate(body);
    const succeed = (): void => {
      const id = `resp_${uuidv7(clock.wall()).replaceAll('-', '')}`;
      this.#latest.keep(frame, continued, { id, output: '' }, this.#limits.keptBytes);
      const [created, completed] = warmUpFrames(id, Math.floor(clock.wall() / 1000), body);
      this.#say(withStreamId(created!, streamId), () => this.#say(withStreamId(completed!, streamId), this.#done));
    };
    const refuse = ({ message, param, missing }: NonNullable<typeof fault>): void => {
      const code = missing ? 'missing_required_parameter' : 'invalid_request';
      this.#say(withStreamId(refusalFrame(new GatewayError(code, message, { param })), streamId), this.#done);
    };
    const opened = new TurnReply(
      { send: this.#send, say: this.#say },
      { streamId, previous: undefined, unknownPrevious: false },
      (end) => {
        if (end.status !== 101) this.#ended(end);
        else if (fault) refuse(fault);
        else succeed();
      },
    );
    const { headers } = this.#handshake;
    this.#stopIdle?.();
    this.#running = runRequest(
      this.#handshake,
      { method: 'GET', headers: withoutId(headers), body: undefined, routed },
      { handle, koa, sink: opened },
    );
  }

  readonly #send = (text: string, sent: () => void): void => {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.send(text, { binary: false }, () => sent());
    else sent();
  };

  /**
   * Sends what is no event of a running response, whose deadline it would have. It is counted until it has left, and the
   * socket rests meanwhile: a client that reads nothing loses it.
   */
  readonly #say = (text: string, sent: () => void): void => {
    if (this.#ws.readyState !== this.#ws.OPEN) return sent();
    const bytes = Buffer.byteLength(text);
    if (!this.#setup.hold(bytes)) return this.#close(CLOSE.tryLater, 'the gateway holds too many messages');
    this.#startIdleTimer();
    this.#send(text, () => {
      this.#setup.hold(-bytes);
      sent();
    });
  };

  #endBy(why: string): void {
    this.#closeAfterTurn(() => this.#send(limitReached(why), () => this.#close(CLOSE.normal, 'limit reached')));
    // A turn that is refused by the limit is not under way.
    if (!this.#running && this.#busy) this.#done();
  }

  #closeAfterTurn(close: () => void): void {
    this.#closing ??= close;
    if (!this.#busy) this.#finish();
  }

  /** Closes the socket for the first of its reasons, once. */
  #finish(): void {
    const close = this.#closing;
    this.#closing = () => {};
    close?.();
  }

  #close(code: number, reason: string): void {
    // Otherwise the client's answer to the close would not be read.
    if (this.#ws.isPaused) this.#ws.resume();
    this.#ws.close(code, reason);
    this.#running?.abort();
  }

  #schedulePing(): void {
    this.#stopPing = this.#setup.clock.after(PING_MS, () => {
      // A client that is not read cannot answer; one that does not read is bounded by the deadline of its turn.
      const isSilent = this.#ws.bufferedAmount > 0 || this.#ws.isPaused;
      if (!isSilent && !this.#alive) return this.#ws.terminate();
      if (!isSilent) {
        this.#alive = false;
        this.#ws.ping();
      }
      this.#schedulePing();
    });
  }

  #closed(): void {
    const { sockets, hold } = this.#setup;
    this.#stopLifetime();
    this.#stopIdle?.();
    this.#stopPing?.();
    sockets.delete(this);
    this.#latest.forget();
    hold(-this.#arriving - this.#waiting.reduce((bytes, message) => bytes + message.length, 0));
    this.#waiting.length = 0;
    this.#arriving = 0;
    this.#running?.abort();
  }
}

/** The frame is a JSON object. */
const parse = ({ bytes }: Frame): JsonObject => JSON.parse(bytes.toString('utf8')) as JsonObject;

const withoutId = ({ 'x-request-id': _, ...headers }: Handshake['headers']): Handshake['headers'] => headers;

/** Fields of a message that a request over HTTP does not have, or that have no effect in a socket (Codex sends `stream`). */
const SOCKET_FIELDS = ['type', 'stream_id', 'generate', 'stream_options', 'background'] as const;

function turnBody(frame: Frame, { input, root }: Continued): Buffer {
  const texts = new Map<string, string | undefined>(SOCKET_FIELDS.map((name) => [name, undefined]));
  texts.set('stream', 'true');
  if (input !== undefined) texts.set('input', input);
  if (input !== undefined) texts.set('previous_response_id', root === undefined ? undefined : JSON.stringify(root));
  return withTexts(frame, texts);
}
