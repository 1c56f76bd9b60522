import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { Secret } from '../../../plugin/index.ts';
import { createContext, createExchange, createFakeClock } from '../../../plugin/testing/index.ts';
import { compileGuard } from '../guard.ts';
import { jwtStep } from './jwt.ts';
import type { GuardTools } from './step.ts';

it.each([
  ['deny', undefined],
  ['observe', 'kept'],
] as const)('A token that a guard has checked and may refuse reaches no upstream (%s)', async (action, left) => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const clock = createFakeClock();
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: 'ES256' })
    .setExpirationTime(clock.wall() / 1000 + 60)
    .sign(privateKey);
  const options = { jwks: { keys: [await exportJWK(publicKey)] } };
  const guard = compileGuard({ name: 'staff', check: 'jwt', action, options });
  const exchange = createExchange({ headers: { authorization: `Bearer ${token}` } });
  exchange.upstreamToken = new Secret('kept', 'caller');
  // The keys are in the settings: nothing else is used.
  const step = jwtStep(guard, { clock, dry: false } as unknown as GuardTools);
  await step(createContext(exchange), () => Promise.resolve());
  expect(exchange.guards).toMatchObject([{ verdict: 'pass' }]);
  expect(exchange.upstreamToken?.reveal()).toBe(left);
});
