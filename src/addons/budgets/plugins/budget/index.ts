import { definePlugin, type BudgetRules } from '../../../../core/kernel/index.ts';

const NANO_PER_USD = 1_000_000_000;

/** Reserves what the request can cost on every budget of its key, team and organization, before it is sent. */
export default definePlugin({
  name: 'budget',
  level: 'attempt',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      reserve: {
        type: 'string',
        enum: ['bound', 'typical'],
        default: 'bound',
        description:
          'bound: the most that a request can cost. typical: where the gateway itself chose the length of the answer, the length that 99 of 100 answers of the model have; budgets are then exceeded by more.',
      },
      on_overrun: {
        type: 'string',
        enum: ['continue', 'cut'],
        default: 'continue',
        description:
          'A stream that costs more than was reserved, and whose budgets have no room for more. continue: it goes on, and the budget is exceeded by the rest. cut: it ends with an error.',
      },
      unknown_price: {
        default: 'refuse',
        description:
          'A request whose price is not known, on a budget in USD. refuse: 403 `model_unpriced`. admit_and_alarm: it is sent, counts nothing and is logged. An object: USD per million tokens.',
        anyOf: [
          { type: 'string', enum: ['refuse', 'admit_and_alarm'] },
          {
            type: 'object',
            additionalProperties: false,
            required: ['input', 'output'],
            properties: {
              input: { type: 'number', minimum: 0, maximum: 1_000_000, description: 'USD per million tokens.' },
              output: { type: 'number', minimum: 0, maximum: 1_000_000, description: 'USD per million tokens.' },
            },
          },
        ],
      },
    },
  },
  needs: ['budgets'],
  requires: ['outbound'],
  provides: ['budget'],
  explain({ attempt: { budget } }) {
    if (!budget) return undefined;
    const { counted, usd, tokens, output } = budget;
    const amounts = [
      ...(usd === undefined ? [] : [`${Number((usd / NANO_PER_USD).toPrecision(6))} USD`]),
      ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ];
    const long = output === undefined ? '' : `, with an answer of at most ${output} tokens`;
    const does = `reserves ${amounts.join(' and ')} of ${counted.join('; ')}${long}`;
    return { does, details: { counted, usd, tokens, output } };
  },
  create({ options, host }) {
    const { reserve, unknown_price: unknownPrice, on_overrun: onOverrun } = options;
    const rules: BudgetRules = { reserve, unknownPrice, onOverrun };
    return { step: ({ exchange, attempt }) => host.budgets.reserve(exchange, attempt, rules) };
  },
});
