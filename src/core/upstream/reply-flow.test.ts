import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError, type Sink } from '../../plugin/index.ts';
import { ReplyFlow } from './reply-flow.ts';

function createTap() {
  const calls: string[] = [];
  return {
    calls,
    pauseFlow: () => void calls.push('pause'),
    resumeFlow: () => void calls.push('resume'),
    cancelFlow: () => void calls.push('cancel'),
  };
}

function createSink(): Sink & { readonly seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    push: (bytes) => void seen.push(bytes.toString()),
    end: () => void seen.push('END'),
    fail: (error) => void seen.push(`FAIL ${error.code}`),
  };
}

const bytes = (text: string) => Buffer.from(text);
const broken = new GatewayError('stream_interrupted', 'broke');

describe('a reply flow', () => {
  it('pushes the held bytes first, then further ones', () => {
    const tap = createTap();
    const sink = createSink();
    const flow = new ReplyFlow(tap, [bytes('a'), bytes('b')]);
    flow.open(sink);
    expect(tap.calls).toEqual(['resume']);
    flow.push(bytes('c'));
    flow.end();
    expect(sink.seen).toEqual(['a', 'b', 'c', 'END']);
  });

  it('buffers bytes and the end while its sink is full', () => {
    const sink = createSink();
    const flow = new ReplyFlow(createTap(), []);
    flow.open(sink);
    flow.pause();
    flow.push(bytes('a'));
    flow.end();
    expect(sink.seen).toEqual([]);
    flow.resume();
    expect(sink.seen).toEqual(['a', 'END']);
  });

  it('ends a full sink immediately when nothing is buffered', () => {
    const sink = createSink();
    const flow = new ReplyFlow(createTap(), []);
    flow.open(sink);
    flow.pause();
    flow.end();
    expect(sink.seen).toEqual(['END']);
  });

  it('fails a full sink immediately, after the buffered bytes', () => {
    const sink = createSink();
    const flow = new ReplyFlow(createTap(), []);
    flow.open(sink);
    flow.pause();
    flow.push(bytes('a'));
    flow.fail(broken);
    expect(sink.seen).toEqual(['a', 'FAIL stream_interrupted']);
  });

  it('pauses and resumes the upstream only on a change', () => {
    const tap = createTap();
    const flow = new ReplyFlow(tap, []);
    flow.resume();
    flow.open(createSink());
    flow.pause();
    flow.pause();
    flow.resume();
    flow.resume();
    expect(tap.calls).toEqual(['resume', 'pause', 'resume']);
  });

  it('stops among the held bytes when its sink is full or cancels', () => {
    const seen: string[] = [];
    const tap = createTap();
    const flow = new ReplyFlow(tap, [bytes('a'), bytes('b'), bytes('c')]);
    flow.open({
      push: (piece) => {
        seen.push(piece.toString());
        if (seen.length === 1) flow.pause();
        else flow.cancel();
      },
      end: () => seen.push('END'),
      fail: () => seen.push('FAIL'),
    });
    expect(seen).toEqual(['a']);
    flow.resume();
    flow.push(bytes('d'));
    flow.fail(broken);
    expect(seen).toEqual(['a', 'b']);
    expect(tap.calls).toEqual(['pause', 'cancel']);
  });

  it('loses no byte and ends exactly once, last, for any order of calls', () => {
    const step = fc.constantFrom('open', 'pause', 'resume', 'push', 'end', 'fail');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const sink = createSink();
        const flow = new ReplyFlow(createTap(), [bytes('0')]);
        const sent = ['0'];
        let ending: string | undefined;
        const actions: Record<string, () => void> = {
          open: () => flow.open(sink),
          pause: () => flow.pause(),
          resume: () => flow.resume(),
          // An upstream sends nothing after its end.
          push: () => {
            if (ending) return;
            sent.push(String(sent.length));
            flow.push(bytes(sent.at(-1)!));
          },
          end: () => {
            ending ??= 'END';
            flow.end();
          },
          fail: () => {
            ending ??= 'FAIL stream_interrupted';
            flow.fail(broken);
          },
        };
        for (const name of steps) actions[name]!();
        flow.open(sink);
        flow.resume();
        if (!ending) actions['end']!();
        expect(sink.seen).toEqual([...sent, ending]);
      }),
    );
  });
});
