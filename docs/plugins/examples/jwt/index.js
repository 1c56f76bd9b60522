import { createHmac, timingSafeEqual } from 'node:crypto';
import { definePlugin, GatewayError } from 'gatehouse-gateway/plugin';

const properties = {
  secret: { type: 'string', minLength: 32, description: 'The shared secret of the tokens (HS256).' },
};
export default definePlugin({
  name: 'jwt',
  level: 'entry',
  provides: ['caller'],
  pure: true,
  options: { type: 'object', additionalProperties: false, required: ['secret'], properties },
  create:
    ({ options, host }) =>
    async ({ exchange }, next) => {
      const [head, body = '', sign = ''] = (exchange.request.headers.authorization ?? '')
        .replace(/^Bearer +/i, '')
        .split('.');
      const [own, given] = [
        createHmac('sha256', options.secret).update(`${head}.${body}`).digest(),
        Buffer.from(sign, 'base64url'),
      ];
      const claims =
        own.length === given.length && timingSafeEqual(own, given) ? JSON.parse(Buffer.from(body, 'base64url')) : {};
      if (!(claims.exp > host.clock.wall() / 1000))
        throw new GatewayError('invalid_api_key', 'The token is not valid.');
      exchange.caller = { keyId: claims.sub, team: claims.team, inlineConfigs: false };
      await next();
    },
});
