"""A trainer with transformers and hypertune.transformers; see trainer.py."""
import os
import warnings

import torch
import transformers.models.bert

if not hasattr(transformers.models.bert, "BertTokenizerFast"):
    transformers.models.bert.BertTokenizerFast = None  # no tokenizers here
from transformers import Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

import hypertune.transformers
import trainer


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, x=None, labels=None):
        guess = self.layer(x)
        return {"loss": (guess - labels).pow(2).mean(), "logits": guess}


def train(trial, epochs, folder):
    warnings.simplefilter("ignore")
    torch.manual_seed(1)
    data = [{"x": torch.rand(2), "labels": torch.rand(1)} for _ in range(32)]
    arguments = TrainingArguments(
        folder, evaluation_strategy="epoch", save_strategy="epoch",
        num_train_epochs=epochs, learning_rate=0.1,
        lr_scheduler_type="constant", disable_tqdm=True, report_to=[],
        no_cuda=True)
    model_trainer = Trainer(
        Line(), arguments, train_dataset=data, eval_dataset=data,
        callbacks=[hypertune.transformers.Callback(
            trial, {"loss": "eval_loss"})])
    model_trainer.train(resume_from_checkpoint=get_last_checkpoint(folder))
    model_trainer.evaluate(data[:1])  # of other data, and so not reported
    return round(model_trainer.state.epoch)


os.environ["WANDB_DISABLED"] = "true"
trainer.main(train)
