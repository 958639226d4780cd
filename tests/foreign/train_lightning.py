"""A trainer with Lightning and hypertune.lightning; see trainer.py."""
import os
import warnings

import torch

torch.__version__ = torch.__version__.replace("1.13.0a0", "1.13.1")  # Debian's
import lightning.pytorch as pl

import hypertune.lightning
import trainer

if torch.__version__ == "1.13.1":  # it needs a Python before 3.11 for this
    pl.LightningModule._register_sharded_tensor_state_dict_hooks_if_available \
        = lambda self: None


class Line(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, _):
        return (self.layer(batch) - batch[:, :1]).pow(2).mean()

    def validation_step(self, batch, _):
        self.log("val_loss", self.training_step(batch, _))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 0.1)


def train(trial, epochs, folder):
    warnings.simplefilter("ignore")
    torch.manual_seed(1)
    data = torch.utils.data.DataLoader(torch.rand(32, 2), batch_size=8)
    last = os.path.join(folder, "last.ckpt")
    pl_trainer = pl.Trainer(
        max_epochs=epochs, accelerator="cpu", devices=1, logger=False,
        enable_progress_bar=False, enable_model_summary=False,
        callbacks=[hypertune.lightning.Callback(trial, {"loss": "val_loss"}),
                   pl.callbacks.ModelCheckpoint(folder, save_last=True)])
    pl_trainer.fit(Line(), data, data,
                   ckpt_path=last if os.path.exists(last) else None)
    return pl_trainer.current_epoch


trainer.main(train)
