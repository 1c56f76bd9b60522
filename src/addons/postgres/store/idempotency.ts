import { MAX_ANSWERS, type Idempotency, type KeptAnswer } from '../../../core/ports/idempotency.ts';
import type { StoreTools } from '../connect/store-tools.ts';

export const idempotencyOf = ({ connections, rules, now }: StoreTools): Idempotency => ({
  async find(actor, key) {
    const [found] = await connections.one<KeptAnswer>(
      `SELECT actor, key, sha256, status, body, until FROM idem WHERE actor = ${connections.literal(actor)}
       AND key = ${connections.literal(key)} AND until > ${now().now ?? 'store_now()'}`,
    );
    return found && { ...found };
  },
  async keep(answer) {
    rules.checks.checkAnswer(answer);
    await connections.call('answer_keep', { answer, most: MAX_ANSWERS, ...now() });
  },
});
