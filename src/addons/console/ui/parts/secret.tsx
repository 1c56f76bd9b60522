import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Copy } from './states.tsx';

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The only time that a secret is on the page. It is in no address and no storage. */
export const SecretDialog = ({ title, secret, onClose, children }: SecretProps) => (
  <Dialog title={title} onClose={onClose} fixed wide>
    <p class="notice warning">It is shown now and never again: the gateway keeps only its digest.</p>
    <p class="row">
      <code class="secret grow">{secret}</code>
      <Copy text={secret} />
    </p>
    {children}
    <p>
      <Button label="I have stored it" kind="main" onClick={onClose} />
    </p>
  </Dialog>
);
