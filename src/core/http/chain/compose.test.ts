import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createConfig } from '../../../plugin/testing/index.ts';
import { toMiddleware, type Step } from '../../kernel/define.ts';
import type { GatewayContext } from '../../kernel/index.ts';
import { compose } from './compose.ts';
import type { Instance } from './instance.ts';

// The chain only passes the context on; these tests give it a list to write to.
interface Noting {
  readonly log: string[];
  readonly exchange: { readonly config: object };
}

const logOf = (ctx: GatewayContext): string[] => (ctx as unknown as Noting).log;

async function run(instances: readonly Instance[], config: object = {}): Promise<readonly string[]> {
  const ctx: Noting = { log: [], exchange: { config } };
  try {
    await compose(instances, 'request')(ctx as unknown as GatewayContext);
  } catch (thrown) {
    ctx.log.push(`thrown ${(thrown as Error).message}`);
  }
  return ctx.log;
}

type Kind = 'goes on' | 'waits' | 'throws' | 'rejects' | 'around' | 'catches';

function stepOf(kind: Kind, name: string): Step {
  const fault = new Error(name);
  return {
    step(ctx) {
      logOf(ctx).push(name);
      if (kind === 'throws') throw fault;
      if (kind === 'rejects') return Promise.reject(fault);
      return kind === 'waits' ? Promise.resolve().then(() => void logOf(ctx).push(`${name} waited`)) : undefined;
    },
  };
}

/** @param asStep false: the plugin is middleware, the plain form of a step */
function instanceOf(kind: Kind, at: number, asStep: boolean): Instance {
  const name = `${at} ${kind}`;
  const plain = { name, repeats: false, builtin: true };
  if (kind !== 'around' && kind !== 'catches') {
    const step = stepOf(kind, name);
    return { ...plain, middleware: toMiddleware(step), ...(asStep && { step }) };
  }
  return {
    ...plain,
    async middleware(ctx, next) {
      logOf(ctx).push(`${name} down`);
      if (kind === 'around') await next();
      else
        try {
          await next();
        } catch (thrown) {
          logOf(ctx).push(`caught ${(thrown as Error).message}`);
        }
      logOf(ctx).push(`${name} up`);
    },
  };
}

describe('a chain of steps', () => {
  it('does the same as a chain of middleware, whatever its plugins do', async () => {
    const kinds = fc.array(fc.constantFrom<Kind>('goes on', 'waits', 'throws', 'rejects', 'around', 'catches'), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(kinds, async (list) => {
        const [steps, plain] = [true, false].map((asStep) => list.map((kind, at) => instanceOf(kind, at, asStep)));
        expect(await run(steps!)).toEqual(await run(plain!));
      }),
    );
  });

  it('makes no promise for a step that does not wait', () => {
    const goesOn = [0, 1, 2].map((at) => instanceOf('goes on', at, true));
    const chain = compose(goesOn, 'request');
    const ctx = { log: [], exchange: { config: {} } } as unknown as GatewayContext;
    expect(chain(ctx)).toBe(chain(ctx));
  });
});

describe('the plan of a subject', () => {
  const idleFor = (subject: object): Instance => ({
    ...instanceOf('goes on', 0, true),
    isIdleFor: (asked) => asked === subject,
  });

  it('leaves out the plugins that are idle for it', async () => {
    const [served, idle] = [createConfig(), createConfig()];
    const chain = [idleFor(idle), instanceOf('waits', 1, true)];
    expect(await run(chain, served)).toEqual(['0 goes on', '1 waits', '1 waits waited']);
    expect(await run(chain, idle)).toEqual(['1 waits', '1 waits waited']);
  });

  it('is compiled once', async () => {
    let asked = 0;
    const counting: Instance = { ...instanceOf('goes on', 0, true), isIdleFor: () => (asked += 1) < 0 };
    const chain = compose([counting], 'request');
    const ctx = { log: [], exchange: { config: {} } } as unknown as GatewayContext;
    await chain(ctx);
    await chain(ctx);
    expect(asked).toBe(1);
  });
});
