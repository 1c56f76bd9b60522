import { useSignal } from '@preact/signals';
import { api, ask, needs, useAction } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { closeDrawer, Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { End } from '../../parts/remove.tsx';
import { Problem } from '../../parts/states.tsx';

interface DetailProps {
  readonly webhook: ApiSchemas['alert'];
  readonly onChange: () => void;
}

/** A webhook, a test of it, and its end. */
export const WebhookDetail = ({ webhook: { id, spec, owner, etag }, onChange }: DetailProps) => (
  <Drawer label={`Webhook ${id}`} name="row" title={id}>
    <Facts
      of={[
        ['Kinds', spec.kinds?.join(' ') ?? 'all'],
        ['Nodes', <span class="mono">{spec.nodes?.join(' ') ?? 'all'}</span>],
        ['Address', 'written, and never shown'],
        ['Where it is', owner === 'store' ? 'in the store' : `in ${owner}`],
      ]}
    />
    <Test id={id} />
    <End
      noun="webhook"
      owner={owner}
      id={id}
      verb="Delete the webhook"
      remove={() => ask(api.DELETE('/alerts/{id}', { params: { path: { id }, header: { 'If-Match': etag } } }))}
      onDone={closeDrawer('row', onChange)}
    >
      <p>It gets no alert any more. Alerts that wait for it are lost; the log has them.</p>
    </End>
  </Drawer>
);

function Test({ id }: { readonly id: string }) {
  const tested = useSignal<ApiSchemas['alert_delivery'] | undefined>(undefined);
  const test = useAction(async () => {
    tested.value = undefined;
    tested.value = await ask(api.POST('/alerts/{id}:test', { params: { path: { id } } }));
  });
  const { value } = tested;
  return (
    <>
      <p>
        <Button label="Test" needs={needs('operator')} doing={test} />
      </p>
      <div role="status">
        {value &&
          (value.state === 'delivered' ? (
            <p class="notice ok">The webhook has taken the test.</p>
          ) : (
            <p class="notice failed">The webhook has not taken the test: {value.problem ?? 'unknown'}</p>
          ))}
      </div>
      {test.error.value && <Problem error={test.error.value} />}
    </>
  );
}
