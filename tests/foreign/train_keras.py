"""A trainer with Keras 3 and hypertune.keras; see trainer.py."""
import os
import sys
import types

os.environ.setdefault("KERAS_BACKEND", "torch")
import torch

if torch.__version__.startswith("1."):  # Keras wants 2.1 or newer
    sys.modules["torch._dynamo"] = torch._dynamo = types.ModuleType("_dynamo")
    torch._dynamo.disable = lambda function=None, **_: (
        function or (lambda f: f))
    torch.float8_e4m3fn = torch.float8_e5m2 = None
import keras
import numpy

import hypertune.keras
import trainer


def train(trial, epochs, folder):
    keras.utils.set_random_seed(1)
    x = numpy.random.rand(32, 2)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.1), "mse")
    history = model.fit(
        x, x[:, :1], epochs=epochs, shuffle=False, validation_split=0.25,
        verbose=0, callbacks=[
            hypertune.keras.Callback(trial, {"loss": "val_loss"}),
            keras.callbacks.BackupAndRestore(os.path.join(folder, "backup"))])
    return 1 + history.epoch[-1]


trainer.main(train)
