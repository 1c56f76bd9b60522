import { createHash } from 'node:crypto';
import { definePlugin, WrappedSource /*:, type Reply*/ } from 'gatehouse-gateway/plugin';

/** Answers equal requests of a caller from memory. */
export default definePlugin({
  name: 'own-cache',
  level: 'attempt',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      seconds: { type: 'integer', minimum: 1, default: 60, description: 'How long a reply is kept.' },
      bytes: { type: 'integer', minimum: 1, default: 100000, description: 'The longest reply that is kept.' },
      total: { type: 'integer', minimum: 1, default: 10000000, description: 'Bytes of all replies that are kept.' },
    },
  },
  create: ({ options, host }) => {
    // It survives a reload of the settings.
    const kept = host.cache /*:<Reply>*/({ maxBytes: options.total, ttl: options.seconds * 1000 });
    return async function ({ exchange, attempt }, next) {
      // Replies to a caller's own token are that person's: people may share a key.
      if (exchange.operation?.task !== 'generate' || exchange.upstreamToken) return next();
      const hash = createHash('sha256');
      // A reply belongs to its caller, its target and the API of its client.
      hash.update(
        JSON.stringify([exchange.caller?.keyId, attempt.target.path, exchange.operation.id, exchange.strict]),
      );
      attempt.body.fingerprint(hash, new Set());
      const key = hash.digest('base64');
      const hit = kept.get(key);
      if (hit !== undefined) {
        attempt.cache = 'hit';
        attempt.reply = { ...hit, headers: { ...hit.headers } };
        return;
      }
      attempt.cache = 'miss';
      await next();
      const { reply } = attempt;
      if (reply?.status !== 200) return;
      const { status, headers, body, stream, form } = reply;
      const own = { 'content-type': headers['content-type'] ?? '' };
      const keep = (bytes /*:: Buffer*/ = Buffer.alloc(0)) =>
        void kept.set(key, { status, headers: own, body: bytes, stream, form });
      if (Buffer.isBuffer(body)) {
        if (body.length <= options.bytes) keep(body);
        return;
      }
      const pieces /*:: Buffer[]*/ = [];
      let length = 0;
      const wrapped = new WrappedSource(body);
      const { push, end } = wrapped;
      wrapped.push = (piece) => {
        length += piece.length;
        if (length <= options.bytes) pieces.push(piece);
        push.call(wrapped, piece);
      };
      wrapped.end = () => {
        if (length <= options.bytes) keep(Buffer.concat(pieces));
        end.call(wrapped);
      };
      reply.body = wrapped;
    };
  },
});
