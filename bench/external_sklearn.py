"""Models of scikit-learn on the data sets that it carries.

Models, spaces and fixed arguments as bayesmark's sklearn_funcs.py has them
(https://github.com/uber/bayesmark): its log loss for classes, squared error
otherwise, over 5 folds. What differs: `normalize` and the Boston data, which
scikit-learn 1.2 no longer has, are left out; a "logit" range is one of logits
for all tuners; the folds are shuffled. Models draw other random numbers in each
trial, so results are noisy, as they are where tuning is done.
"""

import math
import warnings

import numpy
from sklearn import (datasets, ensemble, linear_model, model_selection,
                     neighbors, neural_network, svm, tree)

KNN = {"n_neighbors": ("whole", 1, 25), "p": ("whole", 1, 4)}
SVM = {"C": ("log", 1, 1e3), "gamma": ("log", 1e-4, 1e-3),
       "tol": ("log", 1e-5, 1e-1)}
TREE = {"max_depth": ("whole", 1, 15),
        "max_features": ("logit", 0.01, 0.99),
        "min_samples_split": ("logit", 0.01, 0.99),
        "min_samples_leaf": ("logit", 0.01, 0.49),
        "min_weight_fraction_leaf": ("logit", 0.01, 0.49),
        "min_impurity_decrease": ("real", 0.0, 0.5)}
MLP = {"hidden_layer_sizes": ("whole", 50, 200), "alpha": ("log", 1e-5, 10),
       "batch_size": ("whole", 10, 250),
       "learning_rate_init": ("log", 1e-5, 1e-1), "tol": ("log", 1e-5, 1e-1),
       "validation_fraction": ("logit", 0.1, 0.9)}
ADAM = dict(MLP, beta_1=("logit", 0.5, 0.99), beta_2=("logit", 0.9, 1 - 1e-6),
            epsilon=("log", 1e-9, 1e-6))
SGD = dict(MLP, power_t=("logit", 0.1, 0.9), momentum=("logit", 0.001, 0.999))
ADA = {"n_estimators": ("whole", 10, 100), "learning_rate": ("log", 1e-4, 10)}
LOGISTIC = {"C": ("log", 1e-2, 1e2), "intercept_scaling": ("log", 1e-2, 1e2)}
BOOL = ("choice", ["True", "False"])
LASSO = {"alpha": ("log", 1e-2, 1e2), "fit_intercept": BOOL,
         "max_iter": ("whole log", 10, 5000), "tol": ("log", 1e-5, 1e-1),
         "positive": BOOL}
RIDGE = {"alpha": ("log", 1e-2, 1e2), "fit_intercept": BOOL,
         "max_iter": ("whole log", 10, 5000), "tol": ("log", 1e-4, 1e-1)}
SLOPE = {"solver": "sgd", "early_stopping": True,
         "learning_rate": "invscaling", "nesterovs_momentum": True}
LIBLINEAR = {"solver": "liblinear", "multi_class": "ovr"}

# Of each model, for classes and for numbers: the class, its fixed arguments,
# the space.
MODELS = {
    "knn": ((neighbors.KNeighborsClassifier, {}, KNN),
            (neighbors.KNeighborsRegressor, {}, KNN)),
    "svm": ((svm.SVC, {"probability": True}, SVM), (svm.SVR, {}, SVM)),
    "tree": ((tree.DecisionTreeClassifier, {}, TREE),
             (tree.DecisionTreeRegressor, {}, TREE)),
    "forest": ((ensemble.RandomForestClassifier, {"n_estimators": 10}, TREE),
               (ensemble.RandomForestRegressor, {"n_estimators": 10}, TREE)),
    "mlp_adam": ((neural_network.MLPClassifier, {"early_stopping": True}, ADAM),
                 (neural_network.MLPRegressor, {"early_stopping": True}, ADAM)),
    "mlp_sgd": ((neural_network.MLPClassifier, SLOPE, SGD),
                (neural_network.MLPRegressor,
                 dict(SLOPE, activation="tanh"), SGD)),
    "ada": ((ensemble.AdaBoostClassifier, {}, ADA),
            (ensemble.AdaBoostRegressor, {}, ADA)),
    "lasso": ((linear_model.LogisticRegression,
               dict(LIBLINEAR, penalty="l1"), LOGISTIC),
              (linear_model.Lasso, {}, LASSO)),
    "linear": ((linear_model.LogisticRegression, LIBLINEAR, LOGISTIC),
               (linear_model.Ridge, {}, RIDGE))}
DATA = {"breast": datasets.load_breast_cancer, "digits": datasets.load_digits,
        "iris": datasets.load_iris, "wine": datasets.load_wine,
        "diabetes": datasets.load_diabetes}
JUDGING = 3  # repetitions with other folds


def logit(p):
    return math.log(p / (1 - p))


class Problem:
    def __init__(self, model, data):
        self.name, self.group = "%s-%s" % (model, data), model
        self.x, self.y = DATA[data](return_X_y=True)
        self.is_number = data == "diabetes"
        self.make, self.fixed, self.scales = MODELS[model][self.is_number]
        self.space = {
            name: ("real", logit(one[1]), logit(one[2])) if one[0] == "logit"
            else one for name, one in self.scales.items()}

    def argument(self, name, value):
        kind, *ends = self.scales[name]
        if kind == "choice":
            return value == "True"
        if kind == "logit":  # within its range however it was rounded
            return min(max(1 / (1 + math.exp(-value)), ends[0]), ends[1])
        return value

    def loss(self, params, folds, seed):
        """Over 5 folds, the mean loss; NaN where a fit fails."""
        model = self.make(**self.fixed, **{
            name: self.argument(name, value) for name, value in params.items()})
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        split = (model_selection.KFold if self.is_number
                 else model_selection.StratifiedKFold)
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return -numpy.mean(model_selection.cross_val_score(
                model, self.x, self.y, error_score=numpy.nan,
                scoring="neg_mean_squared_error" if self.is_number
                else "neg_log_loss",
                cv=split(5, shuffle=True, random_state=folds))).item()

    def evaluate(self, params, seed, number):
        return self.loss(params, seed, 1000 * seed + number)

    def judge(self, params, seed):
        """The loss over folds, and with random numbers, that no trial had."""
        return sum(self.loss(params, 10 ** 6 + seed * JUDGING + i,
                             10 ** 6 + seed * JUDGING + i)
                   for i in range(JUDGING)) / JUDGING
