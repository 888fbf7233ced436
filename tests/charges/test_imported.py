"""Networks of scikit-learn and PyTorch: the same function as the model they come from."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import earnshaw as ew
from earnshaw.errors import EarnshawError

RNG = np.random.default_rng(0)
X = RNG.normal(2.0, 3.0, size=(40, 3))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])


def fitted(model, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # five iterations are not enough, and enough here
        return model.fit(X, y)


def mlp(**asked):
    return MLPRegressor(hidden_layer_sizes=(4,), max_iter=5, random_state=0, **asked)


@pytest.mark.parametrize("activation", ["tanh", "relu", "logistic", "identity"])
@pytest.mark.parametrize("outputs", [1, 2])
def test_sklearn(activation, outputs):
    y = Y[:, 0] if outputs == 1 else Y
    model = fitted(mlp(activation=activation), y)
    found = ew.from_sklearn(model)
    assert found.outputs == outputs
    assert np.allclose(found(X), model.predict(X), atol=1e-12)


def test_a_scaler_becomes_part_of_it():
    model = fitted(make_pipeline(StandardScaler(), mlp(activation="tanh")), Y)
    assert np.allclose(ew.from_sklearn(model)(X), model.predict(X), atol=1e-12)


@pytest.mark.parametrize(
    ("words", "model"),
    [
        ("a Ridge", lambda: Ridge()),
        ("a MLPClassifier", lambda: MLPClassifier()),
        ("not fitted", lambda: MLPRegressor()),
        ("2 hidden layers", lambda: fitted(MLPRegressor(hidden_layer_sizes=(2, 2), max_iter=2), Y)),
        ("MinMaxScaler comes before", lambda: fitted(make_pipeline(MinMaxScaler(), mlp()), Y)),
    ],
)
def test_what_is_no_network_of_two_layers_is_refused(words, model):
    with pytest.raises(EarnshawError, match=words):
        ew.from_sklearn(model())


def test_arrays():
    found = ew.from_arrays([[1.0, 2.0]], [3.0], "relu", biases=[-1.0], intercept=0.5)
    assert np.allclose(found(np.array([[1.0, 1.0], [0.0, 0.0]])), [6.5, 0.5])


def test_no_module_is_refused():
    with pytest.raises(EarnshawError, match=r"allowed: a torch\.nn\.Module"):
        ew.from_torch(Ridge())


@pytest.mark.torch
class TestTorch:
    """Of modules of PyTorch."""

    @pytest.mark.parametrize(
        "kind", ["Tanh", "ReLU", "Sigmoid", "GELU", "SiLU", "Mish", "Softsign"]
    )
    def test_sequential(self, kind):
        import torch

        torch.manual_seed(0)
        parts = [torch.nn.Linear(3, 5), getattr(torch.nn, kind)(), torch.nn.Linear(5, 2)]
        self.check(torch.nn.Sequential(*parts).double(), 1e-12)

    def test_parameters_of_an_activation(self):
        import torch

        parts = [torch.nn.Linear(3, 5, bias=False), torch.nn.LeakyReLU(0.3), torch.nn.Linear(5, 1)]
        self.check(torch.nn.Sequential(*parts).double(), 1e-12)

    def test_a_module_that_calls_its_activation(self):
        import torch

        class Mine(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.up, self.down = torch.nn.Linear(3, 5), torch.nn.Linear(5, 1)
                self.rest = torch.nn.Dropout(0.5)

            def forward(self, x):
                return self.down(self.rest(torch.tanh(self.up(x))))

        found = self.check(Mine(), 1e-5)
        assert found.activation.name == "tanh"

    def test_other_forward_passes_are_refused(self):
        import torch

        class Skips(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.up, self.down = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)

            def forward(self, x):
                return self.down(torch.relu(self.up(x)) + x)

        with pytest.raises(EarnshawError, match="outputs are not those"):
            ew.from_torch(Skips())
        three = torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(3)))
        with pytest.raises(EarnshawError, match="3 Linear modules"):
            ew.from_torch(three)
        with pytest.raises(EarnshawError, match="it holds Softmax"):
            ew.from_torch(
                torch.nn.Sequential(
                    torch.nn.Linear(2, 2), torch.nn.Softmax(1), torch.nn.Linear(2, 1)
                )
            )

    def check(self, module, tolerance):
        import torch

        found = ew.from_torch(module)
        assert module.training
        x = np.random.default_rng(1).normal(size=(20, 3))
        dtype = next(module.parameters()).dtype
        module.eval()
        wanted = module(torch.as_tensor(x, dtype=dtype)).detach().double().numpy()
        assert np.allclose(np.reshape(found(x), wanted.shape), wanted, atol=tolerance)
        return found
