import { createHmac, timingSafeEqual } from 'node:crypto';
import { definePlugin, NotMine } from 'gatehouse-gateway/plugin';

const secret = { type: 'string', minLength: 32, description: 'The shared secret of the tokens (HS256).' };
// oxfmt-ignore
export default definePlugin({
  name: 'jwt', level: 'entry', provides: ['caller'], pure: true,
  options: { type: 'object', additionalProperties: false, required: ['secret'], properties: { secret } },
  create: ({ options, host }) => ({ step: async ({ exchange }) => {
    const hmac = (data) => createHmac('sha256', options.secret).update(data).digest();
    const [head, body = '', signature = ''] = (exchange.request.headers.authorization ?? '').replace(/^Bearer +/i, '').split('.');
    // Digests of digests: equally long, as a comparison in constant time needs them.
    const isSigned = timingSafeEqual(hmac(hmac(`${head}.${body}`)), hmac(Buffer.from(signature, 'base64url')));
    const { exp, sub, team } = isSigned ? JSON.parse(Buffer.from(body, 'base64url').toString()) : {};
    if (!(exp > host.clock.wall() / 1000)) throw new NotMine('The token is not valid.');
    exchange.caller = host.callers.make({ id: sub, team });
  } }),
});
